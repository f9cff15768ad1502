(() => {
  const { made, told, coloured } = np2tf;
  const PAUSE = 200;
  // More new lines than FOLDED at one place are folded, except the first ones.
  const FOLDED = 50, SHOWN = 4;
  const data = JSON.parse(document.getElementById("data").textContent);
  const one = (selector) => document.querySelector(selector);
  const input = one("textarea"), shadow = one(".editor pre"), gutter = one(".gutter"), margin = one(".margin");
  const state = one("#state"), run = one("#run");
  const rowHeight = () => gutter.firstElementChild.getBoundingClientRect().height;
  const target = () => one("#target input:checked").value;
  let asked = 0, timer = 0, translation = "";

  async function post(what) {
    const response = await fetch(what, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text: input.value, target: target() }),
    });
    if (!response.ok) throw new Error(response.status === 409 ? "Another run has not ended yet." : `np2tf answered with status ${response.status}.`);
    return response.json();
  }

  function plural(count, name) {
    return `${count} ${name}${count === 1 ? "" : "s"}`;
  }

  // The source in colours, below the transparent text of the input, and its line numbers.
  function paint() {
    const lines = input.value.split("\n"), quotes = { quote: "" };
    const parts = document.createDocumentFragment();
    lines.forEach((text, at) => {
      if (at) parts.append("\n");
      coloured(text, quotes, parts);
    });
    parts.append("\n");
    shadow.replaceChildren(parts);
    while (gutter.children.length > lines.length) gutter.lastElementChild.remove();
    while (gutter.children.length < lines.length) gutter.append(made("div", "", gutter.children.length + 1));
  }

  function note(kind, line, title, text, more) {
    const node = made("p", kind);
    node.dataset.line = line;
    node.append(...title, made("span", "line-number", ` (line ${line})`), " ", ...told(text));
    if (more.length) {
      const box = made("span", "more");
      more.forEach((part, at) => { if (at) box.append(made("br"), made("br")); box.append(...told(part)); });
      node.append(box);
    }
    return node;
  }

  // The notes stand beside their lines, or below the note before.
  function placeNotes() {
    const top = gutter.offsetTop + parseFloat(getComputedStyle(gutter).paddingTop), height = rowHeight();
    let free = 0;
    for (const node of margin.children) {
      const at = Math.max(free, top - margin.offsetTop + (node.dataset.line - 1) * height);
      node.style.top = `${at}px`;
      if (!node.classList.contains("open")) free = at + node.offsetHeight + 3;
    }
    margin.style.minHeight = getComputedStyle(margin.firstElementChild || margin).position === "absolute" ? `${free}px` : "";
  }

  function showNotes(found) {
    // A reason that is a finding of its own is not said twice.
    const short = (words) => found.findings.some((one) => words.includes(one.message)) ? words.split(":")[0] : words;
    const fates = found.fates.map((fate) =>
      [fate.line, 0, note("fate", fate.line, [made("i", fate.kind), made("b", "", fate.name.split(".").pop())], short(fate.words), [])]);
    const findings = found.findings.map((finding) =>
      [finding.line, 1, note(finding.severity, finding.line, [made("b", "", finding.code)], finding.message, [finding.why, `What helps: ${finding.remedy}`])]);
    const notes = [...fates, ...findings].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    margin.replaceChildren(...notes.map((entry) => entry[2]));
    const worst = new Map(), order = ["note", "warning", "error"];
    for (const finding of found.findings) {
      const known = order.indexOf(worst.get(finding.line));
      if (order.indexOf(finding.severity) > known) worst.set(finding.line, finding.severity);
    }
    [...gutter.children].forEach((node, at) => { node.className = worst.get(at + 1) || ""; });
    placeNotes();
  }

  function showTranslation(found) {
    const pane = one("#translation"), box = pane.querySelector(".scroll"), small = pane.querySelector("small");
    pane.classList.toggle("old", found.translation === undefined);
    if (found.translation === undefined) {
      small.textContent = "of the last source that has one";
      if (!box.childElementCount) box.append(made("p", "absent", "There is no translation."));
      return;
    }
    translation = found.translation;
    const added = new Set();
    let shift = 0;
    for (const [first, behind, lines] of found.edits) {
      for (let k = 0; k < lines.length; k++) added.add(first + shift + k);
      shift += lines.length - (behind - first);
    }
    const texts = translation.replace(/\r?\n$/, "").split(/\r\n|\r|\n/), quotes = { quote: "" };
    const nodes = texts.map((text, at) => {
      const node = made("div", added.has(at) ? "line added" : "line"), code = made("span");
      node.dataset.number = at + 1;
      coloured(text, quotes, code);
      node.append(code);
      return node;
    });
    const list = made("div", "lines"), top = box.scrollTop;
    for (let at = 0; at < nodes.length;) {
      let to = at;
      while (to < nodes.length && added.has(to) === added.has(at)) to++;
      const helpers = added.has(at) && to - at > FOLDED ? nodes.slice(at + SHOWN, to) : [];
      if (helpers.length) {
        const fold = made("button", "fold", `${plural(helpers.length, "line")} of helpers`);
        fold.type = "button";
        fold.addEventListener("click", () => fold.replaceWith(...helpers));
        list.append(...nodes.slice(at, at + SHOWN), fold);
      } else {
        list.append(...nodes.slice(at, to));
      }
      at = to;
    }
    box.replaceChildren(list);
    box.scrollTop = top;
    small.textContent = added.size ? plural(added.size, "new line") : "stays as it is";
  }

  async function examine() {
    const number = ++asked;
    try {
      const found = await post("examine");
      if (number !== asked) return;
      state.textContent = found.error || "";
      if (found.error) return;
      showNotes(found);
      showTranslation(found);
    } catch (error) {
      if (number === asked) state.textContent = error instanceof TypeError ? "np2tf play has ended." : error.message;
    }
    document.body.dataset.examined = number;
  }

  function changed() {
    paint();
    clearTimeout(timer);
    timer = setTimeout(examine, PAUSE);
  }

  function showRun(box, one) {
    const pre = box.querySelector("pre");
    box.querySelector("small").textContent = one.seconds === 0 ? "not run" : `${one.seconds.toFixed(2)} s with the start of Python` +
      (one.status ? `, exit status ${one.status}` : "");
    pre.replaceChildren(one.output || (one.errors || one.seconds === 0 ? "" : "(nothing printed)"));
    if (one.errors) pre.append(made("span", "errors", (one.output ? "\n" : "") + one.errors));
  }

  async function runBoth() {
    if (run.classList.contains("running")) { await post("stop"); return; }
    const label = run.querySelector("span");
    run.classList.add("running");
    label.textContent = "Stop";
    state.textContent = "Running the source on NumPy, then its translation …";
    try {
      const result = await post("run"), section = one("#result");
      section.className = result.verdict;
      section.hidden = false;
      section.querySelector("p").replaceChildren(...told(result.message));
      section.querySelector(".runs").hidden = !result.source;
      if (result.source) {
        const [left, right] = section.querySelectorAll(".runs > div");
        showRun(left, result.source);
        showRun(right, result.translation);
      }
      state.textContent = "";
      placeNotes();
    } catch (error) {
      state.textContent = error.message;
    }
    run.classList.remove("running");
    label.textContent = "Run both";
  }

  let leaves = false;
  input.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey && !leaves) {
      event.preventDefault();
      document.execCommand("insertText", false, "    ");
    }
    leaves = event.key === "Escape";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); runBoth(); }
  });
  margin.addEventListener("click", (event) => {
    const node = event.target.closest("p");
    if (!node) return;
    if (node.querySelector(".more")) node.classList.toggle("open");
    const start = input.value.split("\n").slice(0, node.dataset.line - 1).join("\n").length + (node.dataset.line > 1);
    input.setSelectionRange(start, start);
    placeNotes();
  });
  one("#copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(translation);
    one("#copy").textContent = "Copied";
    setTimeout(() => { one("#copy").textContent = "Copy"; }, 1200);
  });
  one("#target").addEventListener("change", examine);
  input.addEventListener("input", changed);
  addEventListener("resize", placeNotes);
  run.addEventListener("click", runBoth);
  input.value = data.text;
  paint();
  examine();
})();
