// The program of a user, which test/client/project.test.ts runs on each runtime and as a bundle.
import { Svc, verifyWebhook } from 'svc-client';

/** Uses the client at `url`; returns what it found, a line for each step. */
export async function shop(url) {
  const svc = new Svc({ url, key: 'svc_live_key' });
  const sent = await svc.messages.send({
    channel: 'email',
    to: [{ email: 'ada@example.com' }],
    email: { subject: 'Hello', text: 'Hi' },
  });
  const missing = await svc.messages.get('msg_0').catch(({ message }) => message);
  const stop = new AbortController();
  const seen = [];
  for await (const { id } of svc.events.stream({ signal: stop.signal })) {
    seen.push(id);
    if (seen.length === 2) stop.abort();
  }
  const event = await received();
  return [sent.id, missing, seen.join(), `${event.id} ${event.type}`].join('\n');
}

/** Signs a post as the service does, by Web Crypto, and verifies it. */
async function received() {
  const secret = btoa('0123456789012345678901234567890');
  const bytes = Uint8Array.from(atob(secret), (letter) => letter.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const body = JSON.stringify({ type: 'message.delivered', data: {} });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const content = new TextEncoder().encode(`evt_1.${timestamp}.${body}`);
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...signature))}`,
  };
  return verifyWebhook(body, headers, `whsec_${secret}`);
}
