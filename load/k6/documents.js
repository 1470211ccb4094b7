// The crowd that opens the 39 sample documents: users come in a ramp; each looks a document up, asks for a download
// where there is no copy, and thinks 1 to 3 s.
//
//   ./dev k6 documents [--short]     starts a Sluice and an origin of its own, and runs this against them
//
// By hand, against a server that runs already:
//
//   k6 run -e SLUICE_URL=http://127.0.0.1:8080 -e SLUICE_SERVICE_KEY=sk_... load/k6/documents.js
//
// -e USERS=3000 sets the users at the peak, -e DURATION=12m30s how long all stages take together, -e SUMMARY=FILE where
// the summary goes as JSON. `./dev k6` takes the first two from K6_VUS and K6_DURATION; k6 itself would take those as a
// load without a ramp.
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const server = __ENV.SLUICE_URL || 'http://127.0.0.1:8080';
const origin = __ENV.SLUICE_ORIGIN || 'scourt';
const key = __ENV.SLUICE_SERVICE_KEY || '';
const peak = Number(__ENV.USERS || 3000);
const length = seconds(__ENV.DURATION || '12m30s');

const searchScreens =
  '10 11 20 30 32 40 50 60 61 62 63 64 65 66 67 68 69 6A 6B 6C 70 71 80 90 A0 F0 G0 H0'.split(' ');
const caseKinds = '101 102 105 106 107 108 10A 10C 10G 10I 10J'.split(' ');
const paths = searchScreens
  .map((screen) => `ssgo003/SSGO003F${screen}.xml`)
  .concat(caseKinds.map((kind) => `ssgo${kind.toLowerCase()}/SSGO${kind}F01.xml`));

// How long each stage takes in seconds, and how many of 3,000 users are there at its end.
const stages = [[30, 100], [60, 500], [120, 1000], [180, 3000], [300, 3000], [60, 0]];
const fullLength = stages.reduce((sum, [duration]) => sum + duration, 0);

const counters = {
  cache: new Counter('document_cache'),
  static: new Counter('document_static'),
  download: new Counter('document_download'),
  error: new Counter('document_error'),
};
const counterOfSource = { memory: 'cache', database: 'cache', stale: 'cache', static: 'static', origin: 'download' };

export const options = {
  scenarios: {
    documents: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: stages.map(([duration, users]) => ({
        duration: `${Math.max(1, Math.round((duration / fullLength) * length * 1000))}ms`,
        target: Math.ceil((users / 3000) * peak),
      })),
      gracefulRampDown: '10s',
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<2000'],
    document_error: ['count<100'],
  },
  summaryTrendStats: ['avg', 'med', 'p(95)', 'p(99)', 'max'],
};

// "12m30s", "20s", "500ms" as seconds.
function seconds(text) {
  const units = { h: 3600, m: 60, s: 1, ms: 0.001 };
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/([0-9.]+)(ms|h|m|s)/g)) sum += Number(number) * units[unit];
  return sum;
}

export default function () {
  const path = paths[Math.floor(Math.random() * paths.length)];
  count(readDocument(path), path);
  sleep(1 + 2 * Math.random());
}

function readDocument(path) {
  const found = http.get(`${server}/api/v1/documents/${origin}?path=${path}`, {
    tags: { name: 'lookup' },
    responseCallback: http.expectedStatuses(200, 404),
  });
  if (found.status !== 404) return found;
  return http.post(`${server}/api/v1/documents/${origin}`, JSON.stringify({ path }), {
    tags: { name: 'download' },
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
  });
}

function count(answer, path) {
  const document = answer.status === 200 ? answer.json() : {};
  const counter = document.path === path ? counterOfSource[document.source] : undefined;
  counters[counter || 'error'].add(1);
}

export function handleSummary(data) {
  const summary = summarize(data);
  const outputs = { stdout: text(summary) };
  if (__ENV.SUMMARY) outputs[__ENV.SUMMARY] = JSON.stringify(summary, null, 2) + '\n';
  return outputs;
}

function summarize(data) {
  const value = (metric, name) => (data.metrics[metric] ? data.metrics[metric].values[name] : 0);
  const thresholds = {};
  for (const [metric, { thresholds: own }] of Object.entries(data.metrics)) {
    for (const [rule, { ok }] of Object.entries(own || {})) thresholds[`${metric} ${rule}`] = ok;
  }
  return {
    scenario: 'documents',
    users: peak,
    seconds: data.state.testRunDurationMs / 1000,
    requests: value('http_reqs', 'count'),
    requestsPerSecond: value('http_reqs', 'rate'),
    failureRatio: value('http_req_failed', 'rate'),
    latencyMs: {
      avg: value('http_req_duration', 'avg'),
      p50: value('http_req_duration', 'med'),
      p95: value('http_req_duration', 'p(95)'),
      p99: value('http_req_duration', 'p(99)'),
      max: value('http_req_duration', 'max'),
    },
    documents: {
      cache: value('document_cache', 'count'),
      static: value('document_static', 'count'),
      download: value('document_download', 'count'),
      error: value('document_error', 'count'),
    },
    thresholds,
  };
}

function text(summary) {
  const { latencyMs, documents } = summary;
  const ms = (number) => number.toFixed(2);
  const verdicts = Object.entries(summary.thresholds).map(([rule, ok]) => `${ok ? 'kept  ' : 'MISSED'}     ${rule}`);
  return [
    `documents  ${summary.users} users at the peak, ${summary.seconds.toFixed(1)} s`,
    `requests   ${summary.requests} (${summary.requestsPerSecond.toFixed(1)}/s), ${(summary.failureRatio * 100).toFixed(3)} % failed`,
    `latency    p50 ${ms(latencyMs.p50)}  p95 ${ms(latencyMs.p95)}  p99 ${ms(latencyMs.p99)}  max ${ms(latencyMs.max)} ms`,
    `answers    cache: ${documents.cache}  static: ${documents.static}  download: ${documents.download}  error: ${documents.error}`,
    ...verdicts,
    '',
  ].join('\n');
}
