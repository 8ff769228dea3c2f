// Signs people up by mail: POST /signup mails a link, and the answers to that mail get a reply. The webhook posts to /hook.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Svc, verifyWebhook } from 'svc/client';

const {
  SVC_URL = 'http://127.0.0.1:4025',
  SVC_API_KEY,
  WEBHOOK_SECRET,
  PORT = '3000',
} = process.env;
const svc = new Svc({ url: SVC_URL, key: SVC_API_KEY });

async function signUp({ email }) {
  const link = `http://127.0.0.1:${PORT}/confirm?email=${encodeURIComponent(email)}`;
  const content = { subject: 'Confirm your address', text: `Open ${link}` };
  // One mail for an address, however often the form is sent.
  const idempotencyKey = `signup-${email}`;
  return svc.messages.send(
    { channel: 'email', to: [{ email }], email: content },
    { idempotencyKey },
  );
}

async function hear(body, headers) {
  const event = await verifyWebhook(body, headers, WEBHOOK_SECRET);
  if (event.type !== 'mailbox.message.received') return;
  const { mailboxId, message } = event.data;
  await svc.messages.reply(mailboxId, message.id, { text: 'Thank you, a person will answer you.' });
}

createServer(async (request, response) => {
  const body = await text(request);
  const done = request.url === '/hook' ? hear(body, request.headers) : signUp(JSON.parse(body));
  const { status } = await Promise.resolve(done).then(
    () => ({ status: 200 }),
    (error) => ({ status: 400, error: console.error(error.message) }),
  );
  response.writeHead(status).end();
}).listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${PORT}`));
