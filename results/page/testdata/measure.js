// Contrast as WCAG 2 defines it, of every element with text of its own, against the
// nearest background behind it. Texts of drawings stand on their white paper.
function rgb(color) {
  const m = color.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/);
  if (!m) throw new Error("no colour: " + color);
  return { channels: [m[1], m[2], m[3]].map(Number), alpha: m[4] === undefined ? 1 : Number(m[4]) };
}
function luminance(channels) {
  const [r, g, b] = channels.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}
function behind(element) {
  for (let e = element; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.alpha === 1) return c.channels;
    if (c.alpha > 0) throw new Error("a background that shines through: " + e.outerHTML.slice(0, 80));
  }
  throw new Error("no background");
}
function measure() {
  const faint = [];
  let elements = 0;
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data).join("").trim();
    if (!own || e.localName === "script" || e.classList.contains("unseen")) continue;
    elements++;
    const style = getComputedStyle(e);
    const ratio = contrast(rgb(e.namespaceURI.endsWith("svg") ? style.fill : style.color).channels, behind(e));
    if (ratio < 4.5) faint.push({ Text: own.slice(0, 60), Ratio: ratio });
  }
  const boxes = [...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth);
  return {
    Width: innerWidth, Needed: document.documentElement.scrollWidth, Dark: matchMedia("(prefers-color-scheme: dark)").matches,
    Elements: elements, Faint: faint,
    Drawings: [...document.querySelectorAll("svg")].map(e => e.getBoundingClientRect()).map(r => ({ Width: r.width, Height: r.height })),
    Boxes: boxes.length, Unfocused: boxes.filter(e => e.tabIndex !== 0).length,
    Downloads: document.querySelectorAll("a[download][href^='data:']").length,
  };
}
try {
  parent.postMessage(JSON.stringify(measure()), "*");
} catch (e) {
  parent.postMessage("error: " + e, "*");
}
