// Opens pages in headless Chromium, at three widths, light and dark, and in print: no console message, no request, nothing
// that axe-core objects to, no sideways scrolling, and on paper nothing that is cut off. Screenshots go to a folder, to be looked at.
//
//   node check.mjs CHROMIUM FOLDER PAGE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [executablePath, folder, ...pages] = process.argv.slice(2);
const widths = [360, 768, 1280];
// A4 and Letter between their margins, and a page that somebody prints smaller.
const paper = [688, 710, 800];
const failures = [];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const file of pages) {
  const url = pathToFileURL(resolve(file)).href;
  const name = basename(file, ".html");
  for (const colorScheme of ["light", "dark"]) {
    for (const width of widths) {
      const at = `${name}, ${colorScheme}, ${width} px`;
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
      const page = await context.newPage();
      const fail = (what) => failures.push(`${at}: ${what}`);
      page.on("console", (message) => fail(`console: ${message.text()}`));
      page.on("pageerror", (error) => fail(`error: ${error.message}`));
      page.on("request", (request) => {
        const asked = request.url();
        if (asked !== url && !asked.startsWith("data:")) fail(`request: ${asked}`);
      });
      await page.goto(url);
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      // The tables behind the plots are checked, too.
      await page.$$eval("details", (all) => all.forEach((details) => (details.open = true)));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) fail(`the page is ${wide} px wider than the window`);
      const bare = await page.$$eval("figure", (all) =>
        all.filter((f) => {
          const table = document.getElementById(`${f.id}-data`)?.nextElementSibling?.querySelector("tbody tr");
          return !table || !f.querySelector("svg[role=img] title");
        }).length,
      );
      if (bare > 0) fail(`${bare} plots have no table or no name`);
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate(() => window.axe.run());
      for (const { id, help, nodes } of violations) {
        fail(`axe: ${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
      }
      for (const rule of ["color-contrast", "landmark-one-main", "region", "page-has-heading-one"]) {
        if (!passes.some(({ id }) => id === rule)) fail(`axe did not check ${rule}`);
      }
      await context.close();
    }
  }
  const page = await browser.newPage();
  await page.goto(url);
  await page.emulateMedia({ media: "print" });
  for (const width of paper) {
    await page.setViewportSize({ width, height: 1000 });
    const [wide, what] = await page.evaluate(() => {
      const right = (element) => element.getBoundingClientRect().right;
      const shown = [...document.body.querySelectorAll("*")].filter((element) => !element.matches("caption, .skip"));
      const widest = shown.reduce((a, b) => (right(b) > right(a) ? b : a));
      const name = widest.closest("[id], [aria-label]")?.outerHTML.slice(0, 80);
      return [document.documentElement.scrollWidth - window.innerWidth, `${widest.tagName} in ${name}`];
    });
    if (wide > 0) failures.push(`${name}, print, ${width} px: ${wide} px are cut off (${what})`);
  }
  await page.emulateMedia({ media: null });
  for (const format of ["A4", "Letter"]) {
    const path = join(folder, `${name}-${format}.pdf`);
    await page.pdf({ path, format, preferCSSPageSize: false });
  }
  await page.close();
}
await browser.close();
failures.forEach((failure) => console.error(failure));
console.log(`${pages.length} pages, ${widths.length * 2} views each: ${failures.length} objections`);
process.exit(failures.length > 0 ? 1 : 0);
