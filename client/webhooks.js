// Verifies posts of webhooks (Standard Webhooks 1.0) by Web Crypto.
import { SvcError } from './http.js';

const encoder = new TextEncoder();
const standardTolerance = 300;

function refuse(message) {
  throw new SvcError({ _tag: 'WebhookVerificationError', message });
}

function headerOf(headers, name) {
  if (typeof headers?.get === 'function') return headers.get(name);
  const found = Object.entries(headers ?? {}).find(([one]) => one.toLowerCase() === name);
  return Array.isArray(found?.[1]) ? found[1][0] : (found?.[1] ?? null);
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
}

/**
 * Returns the event of a post, with the `webhook-id` as `id`. The signature must be valid and at
 * most five minutes old. `body` is the body as received, before JSON is parsed. `secret` may be a
 * list while a secret is being replaced.
 * @throws SvcError `WebhookVerificationError`
 */
export async function verifyWebhook(body, headers, secret, options = {}) {
  const { toleranceSeconds = standardTolerance, now = Date.now() } = options;
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!id || !timestamp || !signatures) {
    refuse('webhook-id, webhook-timestamp and webhook-signature must be there');
  }
  if (!/^[0-9]{1,12}$/.test(timestamp)) refuse('webhook-timestamp is not a number of seconds');
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) {
    refuse(`webhook-timestamp is more than ${toleranceSeconds} seconds from now`);
  }
  const text =
    typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const content = encoder.encode(`${id}.${timestamp}.${text}`);
  const { subtle } = globalThis.crypto;
  for (const one of [secret].flat()) {
    if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(one)) refuse('secret: expected whsec_ and base64');
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await subtle.importKey('raw', bytesOf(one.slice(6)), algorithm, false, ['verify']);
    for (const signature of signatures.split(' ').slice(0, 20)) {
      const [version, encoded = ''] = signature.split(',');
      if (version !== 'v1' || !/^[A-Za-z0-9+/]+=*$/.test(encoded)) continue;
      // The comparison of Web Crypto takes the same time for every signature.
      if (await subtle.verify('HMAC', key, bytesOf(encoded), content)) {
        return { ...JSON.parse(text), id };
      }
    }
  }
  return refuse('no signature matches this id, time and body with this secret');
}
