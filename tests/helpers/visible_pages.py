"""Expressions of JavaScript about what a page shows: does it fit, and can it be read?"""

from __future__ import annotations

#: The elements that reach beyond the window, outside of parts with a scroll bar of their own.
TOO_WIDE = """[...document.querySelectorAll("body *")].filter((one) => !one.closest(".scroll, .hidden") &&
    one.getBoundingClientRect().right > innerWidth + 0.5).map((one) => one.outerHTML.slice(0, 80))"""
#: The texts whose contrast with what is behind them is below 4.5, which WCAG asks of normal text (level AA).
FAINT = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  const layers = (one) => one ? [...layers(one.parentElement), getComputedStyle(one).backgroundColor] : [];
  const seen = (colours) => {
    canvas.fillStyle = "white"; canvas.fillRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => colour.map((part) => part / 255).map(
    (part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce(
    (sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const faint = new Set();
  for (const one of document.querySelectorAll("body *")) {
    const texts = [...one.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!texts.length || ["SCRIPT", "STYLE"].includes(one.tagName) || !one.getClientRects().length) continue;
    const style = getComputedStyle(one), behind = layers(one);
    const [high, low] = [light(seen([...behind, one.closest("svg") ? style.fill : style.color])),
      light(seen(behind))].sort((a, b) => b - a);
    const name = `${one.tagName}.${one.className.baseVal ?? one.className}`;
    if ((high + 0.05) / (low + 0.05) < 4.5) faint.add(name);
  }
  return [...faint];
})()"""
