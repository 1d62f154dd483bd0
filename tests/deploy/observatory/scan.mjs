// Grade pages with the MDN HTTP Observatory: {host, httpPort, httpsPort, pages: [[path, cookies]]} on standard
// input, one line of JSON for each page on standard output.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const source = (file) => import(pathToFileURL(`${process.env.OBSERVATORY}/src/${file}`));
const { retrieve } = await source("retriever/retriever.js");
const { ALL_TESTS } = await source("constants.js");
const { getScoreModifier } = await source("grader/grader.js");

const WITHOUT = {
  "cookies-not-found": "cookies",
  "sri-not-implemented-but-no-scripts-loaded": "scripts",
};
const { host, httpPort, httpsPort, pages } = JSON.parse(readFileSync(0, "utf8"));
for (const [path, cookies] of pages) {
  const headers = ["Accept: text/html", ...(cookies ? [`Cookie: ${cookies}`] : [])];
  const answers = await retrieve(host, { httpPort, httpsPort, path, headers });
  const results = ALL_TESTS.map((test) => test(answers));
  console.log(JSON.stringify({
    path,
    signedIn: Boolean(cookies),
    status: answers.responses.auto?.status ?? null,
    score: results.reduce((sum, { result }) => sum + getScoreModifier(result), 100),
    without: results.map(({ result }) => WITHOUT[result]).filter(Boolean),
    failed: results.filter(({ pass }) => !pass).map(({ result }) => result),
  }));
}
