(() => {
  const { made, told, coloured } = np2tf;
  const data = JSON.parse(document.getElementById("data").textContent);
  const CONTEXT = 3;

  function line(number, text, side, kind, state) {
    const node = made("div", `line ${side}${kind ? " " + kind : ""}`);
    if (number === null) { node.classList.add("empty"); return node; }
    node.dataset.number = number;
    const code = made("span");
    coloured(text, state, code);
    node.append(code);
    return node;
  }

  // The rows of a file: what stands beside what.
  function rowsOf(file) {
    const rows = [];
    let before = 0, after = 0;
    const same = (to) => {
      for (; before < to; before++, after++) rows.push([before, file.lines[before], after, file.lines[before], true]);
    };
    for (const [first, behind, added] of file.edits) {
      same(first);
      const count = Math.max(behind - first, added.length);
      for (let k = 0; k < count; k++) {
        const old = first + k < behind, now = k < added.length;
        rows.push([old ? first + k : null, old ? file.lines[first + k] : "",
                   now ? after + k : null, now ? added[k] : "", false]);
      }
      before = behind;
      after += added.length;
    }
    same(file.lines.length);
    return rows;
  }

  function notesOf(file) {
    const notes = new Map();
    const add = (number, node) => {
      if (!notes.has(number)) notes.set(number, []);
      notes.get(number).push(node);
    };
    for (const fate of file.fates) {
      const node = made("p", "fate");
      node.append(made("i", fate.kind), made("b", "", fate.name.split(".").pop()), ` ${fate.fate}`, ...told(fate.reason ? `: ${fate.reason}` : ""));
      node.title = fate.name;
      add(fate.line, node);
    }
    for (const finding of file.findings) {
      const node = made("p", finding.severity);
      const where = finding.cell === null ? "" : `cell ${finding.cell}, line ${finding.line}: `;
      node.append(made("b", "", finding.code), ` ${where}`, ...told(finding.message));
      node.title = data.codes[finding.code].remedy;
      add(file.lines.length ? finding.row : 0, node);
    }
    return notes;
  }

  // The rows from `at` to `to`, each edit in one block: a narrow page shows its old lines before its new ones.
  function inBlocks(rows, nodes, at, to) {
    const blocks = [];
    let block = null;
    for (; at < to; at++) {
      if (rows[at][4]) { block = null; blocks.push(nodes[at]); continue; }
      if (!block) { block = made("div", "block"); blocks.push(block); }
      block.append(nodes[at]);
    }
    return blocks;
  }

  function view(file) {
    const box = made("div", "source");
    const notes = notesOf(file);
    if (notes.size) box.classList.add("with-notes");
    const withNotes = (row, number) => {
      if (!notes.size) return row;
      const cell = made("div", "notes");
      if (number !== null) cell.append(...(notes.get(number + 1) || []));
      row.append(cell);
      return row;
    };
    const head = made("div", "row head");
    head.append(made("div", "", "source"), made("div", "", file.edits.length ? "translation" : "stays as it is"));
    box.append(head);
    if (notes.size) head.append(made("div", "", "functions and findings"));
    if (!file.lines.length) {
      const row = made("div", "row");
      row.append(made("div"), made("div"));
      box.append(withNotes(row, -1));
      return box;
    }
    const rows = rowsOf(file), states = [{ quote: "" }, { quote: "" }];
    const nodes = rows.map(([old, text, now, other, same]) => {
      const row = made("div", same ? "row same" : "row");
      const left = line(old === null ? null : old + 1, text, "before", same ? "" : old === null ? "" : "removed", states[0]);
      row.append(left, line(now === null ? null : now + 1, other, "after", same || now === null ? "" : "added", states[1]));
      return withNotes(row, old);
    });
    const near = new Array(rows.length).fill(false);
    rows.forEach((row, at) => {
      if (row[4] && !(row[0] !== null && notes.has(row[0] + 1))) return;
      for (let k = Math.max(0, at - CONTEXT); k <= Math.min(rows.length - 1, at + CONTEXT); k++) near[k] = true;
    });
    for (let at = 0; at < rows.length;) {
      let to = at;
      while (to < rows.length && near[to] === near[at]) to++;
      if (near[at] || to - at <= 2 * CONTEXT || rows.length <= 20) {
        box.append(...inBlocks(rows, nodes, at, to));
      } else {
        const hidden = nodes.slice(at, to);
        const fold = made("button", "fold", `${to - at} lines that stay as they are`);
        fold.type = "button";
        fold.addEventListener("click", () => fold.replaceWith(...hidden));
        box.append(fold);
      }
      at = to;
    }
    return box;
  }

  function toggle(body) {
    const button = body.querySelector("button[aria-expanded]");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) { body.rows[1].remove(); return; }
    const cell = body.insertRow().insertCell();
    cell.colSpan = 6;
    cell.className = "view";
    cell.append(view(data.files[body.dataset.file]));
  }

  function sorted(table, heading) {
    const headings = [...heading.parentElement.children], column = headings.indexOf(heading);
    const numbers = heading.dataset.kind === "number";
    const now = heading.getAttribute("aria-sort");
    const order = now === null ? (numbers ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
    headings.forEach((heading) => heading.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", order);
    const value = (body) => {
      const cell = body.rows[0].cells[column];
      const text = cell.dataset.value ?? cell.textContent.trim();
      return numbers ? (text === "" ? -1 : Number(text)) : text.toLowerCase();
    };
    const keyed = [...table.tBodies].map((body, at) => [value(body), at, body]);
    const sign = order === "ascending" ? 1 : -1;
    keyed.sort(([a, i], [b, j]) => (a < b ? -sign : a > b ? sign : i - j));
    table.append(...keyed.map(([, , body]) => body));
  }

  const texts = new Map();
  function textOf(body) {
    const name = body.dataset.file;
    if (name === undefined) return body.textContent.toLowerCase();
    if (!texts.has(name)) {
      const file = data.files[name];
      const parts = [name, ...file.lines, ...file.edits.flatMap((edit) => edit[2]),
        ...file.findings.map((finding) => `${finding.code} ${finding.message}`), ...file.fates.map((fate) => `${fate.name} ${fate.fate} ${fate.reason}`)];
      texts.set(name, parts.join("\n").toLowerCase());
    }
    return texts.get(name);
  }

  function filter(section) {
    const wanted = section.querySelector("input[type=search]").value.trim().toLowerCase();
    const only = [...section.querySelectorAll("input[data-only]:checked")].map((input) => input.dataset.only);
    const bodies = [...section.querySelector("table").tBodies];
    let shown = 0;
    for (const body of bodies) {
      body.hidden = !(textOf(body).includes(wanted) && only.every((key) => key in body.dataset));
      shown += !body.hidden;
    }
    const told = section.querySelector("output");
    if (told) told.textContent = shown === bodies.length ? "" : `${shown} of ${bodies.length}`;
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) sorted(table, button.parentElement);
    });
  }
  for (const section of document.querySelectorAll("#names, #files")) {
    section.addEventListener("input", () => filter(section));
  }
  document.querySelector("#files table").addEventListener("click", (event) => {
    const row = event.target.closest("tbody > tr:first-child");
    if (row) toggle(row.parentElement);
  });
  document.querySelector("#findings").addEventListener("click", (event) => {
    const wanted = event.target.dataset.search;
    if (!wanted) return;
    const section = document.querySelector("#files");
    section.querySelector("input[type=search]").value = wanted;
    filter(section);
    section.scrollIntoView();
  });
  const named = decodeURIComponent(location.hash.slice(1));
  for (const body of document.querySelectorAll("#files tbody")) {
    if (body.dataset.file === named) { toggle(body); body.scrollIntoView(); }
  }
})();
