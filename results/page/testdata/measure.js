// Contrast as WCAG 2 defines it, of every element with text of its own, against the
// nearest background behind it.
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
  for (const d of document.querySelectorAll("details")) d.open = true;
  const faint = [];
  let elements = 0;
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data).join("").trim();
    if (!own || e.localName === "script") continue;
    elements++;
    const style = getComputedStyle(e);
    const ratio = contrast(rgb(style.color).channels, behind(e));
    if (ratio < 4.5) faint.push({ Text: own.slice(0, 60), Ratio: ratio });
  }
  const boxes = [...document.querySelectorAll(".scroll, figure")].filter(e => e.scrollWidth > e.clientWidth);
  const drawings = [...document.querySelectorAll("img")];
  const needed = document.documentElement.scrollWidth;
  const faults = faint.map(f => `contrast ${f.Ratio.toFixed(2)} of ${f.Text}`);
  const hold = (good, text) => { if (!good) faults.push(text) };
  hold(needed <= innerWidth, `the page is ${needed} wide in a window of ${innerWidth}`);
  hold(elements >= 100, `${elements} elements with text`);
  // The smallest letters of a drawing are 11 pixels high where it is as wide as it was laid out.
  for (const e of drawings) {
    hold(e.width / e.naturalWidth * 11 >= 9 && e.height >= 150, `a drawing of ${e.width} x ${e.height}`);
  }
  hold(innerWidth >= 500 || boxes.length > 0, "no table scrolls in its own box");
  hold(boxes.every(e => e.tabIndex === 0), "a box that scrolls cannot be reached by keyboard");
  hold(document.querySelector("a[download][href^='data:']"), "no report to download");
  return { Width: innerWidth, Dark: matchMedia("(prefers-color-scheme: dark)").matches, Drawings: drawings.length, Faults: faults };
}
try {
  parent.postMessage(JSON.stringify(measure()), "*");
} catch (e) {
  parent.postMessage("error: " + e, "*");
}
