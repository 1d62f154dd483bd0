// What other scanners say: a request is one line of JSON on standard input, and its answer one on standard output.
// {host, ports: {80: 1234}}: the MDN HTTP Observatory; the host's ports are these of loopback, and no other host is reached.
// {points: [...]}: the grade that it gives for the points of its tests.
// {policies: [...]}: the findings of csp_evaluator about each policy.
import http from "node:http";
import https from "node:https";
import { createRequire } from "node:module";
import net from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [observatory, evaluator] = [process.env.OBSERVATORY, process.env.CSP_EVALUATOR];
const source = (file) => import(pathToFileURL(`${observatory}/src/${file}`));
const { scan } = await source("scanner/index.js");
const { getGradeForScore } = await source("grader/grader.js");
const { MINIMUM_SCORE_FOR_EXTRA_CREDIT } = await source("grader/charts.js");
const load = createRequire(`${evaluator}/package.json`);
const { CspEvaluator } = load("./dist/evaluator.js");
const { CspParser } = load("./dist/parser.js");
const { Severity, Type } = load("./dist/finding.js");

// The servers close each connection.
http.globalAgent = new http.Agent();
https.globalAgent = new https.Agent();
let served = {};
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...values) {
  const list = Array.isArray(values[0]) ? values[0] : values;  // Node passes on lists that it has normalised
  const port = list[0].host === served.host ? served.ports[list[0].port] : undefined;
  list[0] = { ...list[0], host: "127.0.0.1", port: port ?? 1 };
  return connect.apply(this, values);
};

async function scanned(request) {
  served = request;
  try {
    const { scan: { grade, score }, tests } = await scan(request.host);
    const results = Object.entries(tests).map(([name, { result, pass, scoreModifier }]) => [name, { result, pass, points: scoreModifier ?? 0 }]);
    return { grade, score, tests: Object.fromEntries(results) };
  } catch (error) {
    return { error: error.message };
  }
}

function graded({ points }) {
  const sum = (list) => list.reduce((total, each) => total + each, 100);
  const least = sum(points.filter((each) => each < 0));
  return getGradeForScore(least >= MINIMUM_SCORE_FOR_EXTRA_CREDIT ? sum(points) : least).grade;
}

function evaluated({ policies }) {
  return policies.map((policy) =>
    new CspEvaluator(new CspParser(policy).csp).evaluate().map(({ type, severity, directive, value }) => ({
      type: Type[type], severity: Severity[severity], directive, value: value ?? null,
    })));
}

async function answer(request) {
  if (request.policies) return evaluated(request);
  return request.points ? graded(request) : scanned(request);
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
