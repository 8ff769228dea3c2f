// A program that answers mail, if a person approves: it reads what is unread in its mailbox, proposes an
// answer in each thread, and tells what became of its proposals. Plain Node on the HTTP API.
//
//   svc keys create --name assistant --permission mailboxes:read --permission mailboxes:write \
//     --permission mailboxes:send --mailbox MAILBOX_ID --send-mode approval
//   SVC_URL=http://127.0.0.1:4025 SVC_KEY=svc_live_… node assistant.mjs
//   svc mailboxes actions --state proposed, then svc mailboxes approve ACTION_ID
const { SVC_URL = 'http://127.0.0.1:4025', SVC_KEY = '' } = process.env;

async function ask(method, path, body, headers = {}) {
  const response = await fetch(SVC_URL + path, {
    method,
    headers: {
      'X-API-Key': SVC_KEY,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.message ?? answer._tag), { status: response.status });
}

/** Whatever thinks goes here; it gets the messages of the thread, the oldest first. */
function answerTo(messages) {
  const { newContent, from } = messages.at(-1);
  const [question = ''] = /[^.!?\n]*\?/.exec(newContent ?? '') ?? [];
  const name = from.name ?? from.email;
  return `Hello ${name},\n\nyou ask: ${question.trim()}\nWe will look into it.\n`;
}

async function answer(mailbox, thread) {
  const path = `${mailbox}/threads/${thread.id}`;
  const { items: messages } = await ask('GET', `${path}/messages?limit=100`);
  const last = messages.at(-1);
  // What nobody wrote is not answered: the service would refuse it (409).
  if (last?.kind !== 'person') return;
  const text = answerTo(messages);
  // Started again in between, the assistant proposes the same once.
  const key = { 'idempotency-key': `assistant ${last.id}` };
  const result = await ask('POST', `${mailbox}/messages/${last.id}/reply`, { text }, key);
  await ask('PATCH', path, { read: true });
  console.log(`${result.status} ${result.actionId}: an answer in "${thread.subject}"`);
}

// The list has the mailboxes of the key, and no others.
const { items: mailboxes } = await ask('GET', '/v1/mailboxes');
for (const { id } of mailboxes) {
  const mailbox = `/v1/mailboxes/${id}`;
  const { items: threads } = await ask('GET', `${mailbox}/threads?unread=true&folder=inbox`);
  for (const thread of threads) await answer(mailbox, thread);
  const { items: rejected } = await ask('GET', `${mailbox}/actions?state=rejected&limit=5`);
  for (const { id, note } of rejected) console.log(`rejected ${id}: ${note ?? 'without a word'}`);
}
