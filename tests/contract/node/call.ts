// A customer's backend in TypeScript: types from the OpenAPI document, signed with Node's own crypto.
import { createHash, createHmac, randomBytes } from "node:crypto";
import type { components } from "./api.js";

type DashboardRequest = components["schemas"]["DashboardRequest"];
type DashboardOrError = components["schemas"]["DashboardResponse"] | components["schemas"]["ErrorResponse"];

const [base, fields] = [process.argv[2]!, JSON.parse(process.argv[3]!) as DashboardRequest];
const path = "/v1/site/dashboard";
const body = JSON.stringify(fields);
const timestamp = String(Math.floor(Date.now() / 1000));
const nonce = randomBytes(24).toString("base64url");
const digest = createHash("sha256").update(body).digest("hex");
const canonical = ["ES1", timestamp, nonce, "POST", path, digest].join("\n");
const signature = createHmac("sha256", process.env.SITE_API_SECRET!).update(canonical).digest("hex");

const response = await fetch(base + path, {
  method: "POST",
  body,
  headers: {
    "content-type": "application/json",
    "x-service-timestamp": timestamp,
    "x-service-nonce": nonce,
    "x-service-signature": signature,
  },
});
const answer = (await response.json()) as DashboardOrError;
console.log("error" in answer ? answer.error.code : answer.threats.map((threat) => threat.title).join("\n"));
