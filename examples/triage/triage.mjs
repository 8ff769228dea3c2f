// An extension that sorts mail: it labels each thread by its newest message, and proposes a reply that a person
// approves. Plain Node, in both runtimes: with SVC_SECRET it takes signed posts (`webhook`), without it reads the
// stream (`hosted`). docs/extensions.md tells how to publish and install one; this one asks for
//
//   --permission mailboxes:read --permission mailboxes:write --permission mailboxes:send \
//     --event mailbox.message.received --send-mode approval
//
//   SVC_URL=http://127.0.0.1:4025 SVC_KEY=svc_live_… SVC_SECRET=whsec_… PORT=8090 node triage.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SVC_URL = 'http://127.0.0.1:4025', SVC_KEY, SVC_SECRET, PORT = '8090' } = process.env;

async function ask(path, body, headers = {}) {
  const json = body && { 'Content-Type': 'application/json' };
  const response = await fetch(SVC_URL + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'X-API-Key': SVC_KEY, ...json, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  throw new Error(`${path}: ${response.status} ${(await response.json()).message}`);
}

/** Whatever thinks goes here. */
function sort({ subject, newContent }) {
  const text = `${subject} ${newContent}`;
  if (/invoice|refund|payment/i.test(text)) return { label: 'billing', team: 'Our accountants' };
  if (/order|parcel|delivery/i.test(text)) return { label: 'orders', team: 'Our warehouse' };
  return { label: 'general', team: 'Somebody' };
}

async function triage({ type, data }) {
  if (type !== 'mailbox.message.received') return;
  const mailbox = `/v1/mailboxes/${data.mailboxId}`;
  const thread = `${mailbox}/threads/${data.threadId}`;
  const { items } = await (await ask(`${thread}/messages?limit=100`)).json();
  const message = items.find(({ id }) => id === data.message.id);
  // Deleted since, or written by no person: such mail is not answered.
  if (message?.kind !== 'person') return;
  const { label, team } = sort(message);
  await ask(`${thread}/labels`, { labels: [label] });
  const text = `Hello ${message.from.name ?? message.from.email},\n\n${team} will look into it.\n`;
  // An event can come twice. The second proposal is then the first.
  const once = { 'Idempotency-Key': `triage ${message.id}` };
  const answer = await ask(`${mailbox}/messages/${message.id}/reply`, { text }, once);
  const { status, actionId } = await answer.json();
  console.log(`${label}: ${status} ${actionId}`);
}

/** Verifies a post (Standard Webhooks 1.0): signed with our secret, within the last five minutes. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' } = headers;
  const key = Buffer.from(SVC_SECRET.replace('whsec_', ''), 'base64');
  const right = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest();
  const isRight = (text) => text.length === right.length && timingSafeEqual(text, right);
  const isNew = Math.abs(Date.now() / 1000 - at) < 300;
  return isNew && given.split(' ').some((one) => isRight(Buffer.from(one.slice(3), 'base64')));
}

async function takePost(post, response) {
  const body = Buffer.concat(await Array.fromAsync(post));
  const end = (status) => response.writeHead(status).end();
  if (!isGenuine(post.headers, body)) return end(401);
  // After a 500 the service posts the event again.
  await triage(JSON.parse(body)).then(
    () => end(204),
    () => end(500),
  );
}

/** Reads the stream until it ends; returns the id of the last event, behind which the next one begins. */
async function follow(last) {
  const { body } = await ask('/v1/events/stream', null, last ? { 'Last-Event-ID': last } : {});
  console.log('listening');
  let [text, id] = ['', last];
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop();
    for (const part of parts.filter((one) => one.startsWith('id: '))) {
      await triage(JSON.parse(part.slice(part.indexOf('data: ') + 6)));
      id = part.slice(4, part.indexOf('\n'));
    }
  }
  return id;
}

if (SVC_SECRET) createServer(takePost).listen(PORT, '127.0.0.1', () => console.log('listening'));
else for (let last; ; ) last = await follow(last);
