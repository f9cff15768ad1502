"use strict";
// What pages with source need: elements, messages, and the colours of Python.
const np2tf = (() => {
  const WORDS = new Set(("and as assert async await break case class continue def del elif else except False " +
    "finally for from global if import in is lambda match None nonlocal not or pass raise return True try while " +
    "with yield").split(" "));
  const TOKEN = /(#.*)|("""|'''|[rbfuRBFU]{0,2}"(?:\\.|[^"\\])*"?|[rbfuRBFU]{0,2}'(?:\\.|[^'\\])*'?)|([A-Za-z_]\w*)|(\d[\w.]*)|([^#"'A-Za-z_\d]+)/g;

  const made = (tag, kind, text) => {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  // A message, in which code stands between backquotes.
  function told(text) {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, at) => (at % 2 ? made("code", "", part) : part)) : [text];
  }

  // Colours of one line; `state.quote` is the quote of a text that goes on over lines.
  function coloured(text, state, into) {
    const put = (kind, part) => { if (part) into.append(kind ? made("span", kind, part) : part); };
    let rest = text;
    if (state.quote) {
      const end = rest.indexOf(state.quote);
      if (end < 0) { put("s", rest); return; }
      put("s", rest.slice(0, end + 3));
      rest = rest.slice(end + 3);
      state.quote = "";
    }
    TOKEN.lastIndex = 0;
    let found;
    while ((found = TOKEN.exec(rest)) !== null) {
      const [all, comment, string, word, number] = found;
      if (string === '"""' || string === "'''") {
        const end = rest.indexOf(string, found.index + 3);
        if (end < 0) { put("s", rest.slice(found.index)); state.quote = string; return; }
        put("s", rest.slice(found.index, end + 3));
        TOKEN.lastIndex = end + 3;
      } else {
        put(comment ? "c" : string ? "s" : number ? "n" : word && WORDS.has(word) ? "k" : "", all);
      }
    }
  }

  return { made, told, coloured };
})();
