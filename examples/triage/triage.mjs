// An extension that sorts mail: it labels each thread by its newest message, and proposes a reply that a person
// approves. Plain Node, in both runtimes: with SVC_SECRET it takes its events as signed posts (`webhook`),
// without it reads them from the stream (`hosted`). docs/extensions.md publishes and installs it.
//
//   SVC_URL=http://127.0.0.1:4025 SVC_KEY=svc_live_… SVC_SECRET=whsec_… PORT=8090 node triage.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SVC_URL = 'http://127.0.0.1:4025', SVC_KEY = '', SVC_SECRET, PORT = '8090' } = process.env;

function request(path, { body, method = body ? 'POST' : 'GET', ...headers } = {}) {
  const json = body && { 'Content-Type': 'application/json' };
  return fetch(SVC_URL + path, {
    method,
    headers: { 'X-API-Key': SVC_KEY, ...json, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function ask(path, options) {
  const response = await request(path, options);
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(`${response.status} ${answer.message ?? answer._tag}`);
}

/** Whatever thinks goes here. */
function sort({ subject, newContent }) {
  const text = `${subject} ${newContent}`;
  if (/invoice|refund|payment/i.test(text)) return { label: 'billing', team: 'Our accountants' };
  if (/order|parcel|delivery/i.test(text)) return { label: 'orders', team: 'Our warehouse' };
  return { label: 'general', team: 'We' };
}

async function triage({ mailboxId, threadId, message: { id } }) {
  const thread = `/v1/mailboxes/${mailboxId}/threads/${threadId}`;
  const { items } = await ask(`${thread}/messages?limit=100`);
  const message = items.find((one) => one.id === id);
  // Deleted since, or written by nobody: such mail is not answered.
  if (message?.kind !== 'person') return;
  const { label, team } = sort(message);
  await ask(`${thread}/labels`, { body: { labels: [label] } });
  const text = `Hello ${message.from.name ?? message.from.email},\n\n${team} will look into it.\n`;
  // An event can come twice. Its second proposal is the first.
  const key = { 'Idempotency-Key': `triage ${id}` };
  const path = `/v1/mailboxes/${mailboxId}/messages/${id}/reply`;
  const { status, actionId } = await ask(path, { body: { text }, ...key });
  console.log(`${label}: ${status} ${actionId}`);
}

/** Verifies a post (Standard Webhooks 1.0): signed by our secret, within the last five minutes. */
function isGenuine(headers, body) {
  const {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': signatures = '',
  } = headers;
  if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const key = Buffer.from(SVC_SECRET.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest();
  return signatures.split(' ').some((one) => {
    const given = Buffer.from(one.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function answerPost(post, response) {
  const body = Buffer.concat(await Array.fromAsync(post)).toString();
  const end = (status) => response.writeHead(status).end();
  if (!isGenuine(post.headers, body)) return end(401);
  const { type, data } = JSON.parse(body);
  // After an error the service posts the event again.
  if (type === 'mailbox.message.received')
    await triage(data).then(
      () => end(204),
      () => end(500),
    );
  else end(204);
}

/** Reads the stream until it ends; `last` is the event that was handled last. */
async function follow(last) {
  const resume = last && { 'Last-Event-ID': last };
  const { ok, status, body } = await request('/v1/events/stream', resume);
  if (!ok) throw new Error(`the stream answered ${status}`);
  console.log('listening');
  let [text, id] = ['', last];
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (text + chunk).split('\n\n');
    text = events.pop();
    for (const event of events) {
      const { type, data, ...rest } = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}');
      if (type === 'mailbox.message.received') await triage(data);
      id = rest.id ?? id;
    }
  }
  return id;
}

if (SVC_SECRET)
  createServer(answerPost).listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
else for (let last; ; ) last = await follow(last);
