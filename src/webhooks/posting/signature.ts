// Signatures of posts, by Standard Webhooks 1.0: HMAC-SHA256 over id, time and body, a signature
// for each secret in force. Exactly the posted bytes are signed, so that receivers can verify them.
import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

const secretPrefix = 'whsec_';
const version = 'v1';
/** Largest difference between the time of a signature and now. */
const toleranceMs = 5 * 60_000;

export type SignatureHeaders = Record<
  'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
  string
>;

/** Makes the key of a secret (`whsec_` and base64). Costs three times as much as a signature. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(secretPrefix.length), 'base64');
}

function signatureOf(key: KeyObject, content: string | Buffer): string {
  return `${version},${createHmac('sha256', key).update(content).digest('base64')}`;
}

/**
 * Returns the headers of an attempt. `secrets` are the secrets in force or their keys, the newest
 * first; `at` is the time of the post, ms since 1970.
 */
export function signatureHeaders(
  secrets: readonly (string | KeyObject)[],
  eventId: string,
  at: number,
  body: string,
): SignatureHeaders {
  const timestamp = String(Math.floor(at / 1000));
  const content = `${eventId}.${timestamp}.${body}`;
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .map((one) => signatureOf(typeof one === 'string' ? signingKey(one) : one, content))
      .join(' '),
  };
}

/**
 * Verifies a received post: returns the problem, or null if the signature is valid. Header names
 * are in lower case. The bytes of a body are compared as received. Without `now` the time is not
 * checked.
 */
export function signatureProblem(
  secret: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string | Buffer,
  now?: number,
): string | null {
  if (!isSecret(secret)) return 'the secret must be whsec_ and base64';
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const given = headers['webhook-signature'];
  if (!id) return 'the header webhook-id is missing';
  if (!timestamp) return 'the header webhook-timestamp is missing';
  if (!given) return 'the header webhook-signature is missing';
  if (!/^[0-9]{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a number of seconds';
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes]);
  const right = Buffer.from(signatureOf(signingKey(secret), content));
  const isRight = given.split(' ').some((one) => {
    const signature = Buffer.from(one);
    return signature.length === right.length && timingSafeEqual(signature, right);
  });
  if (!isRight) return 'no signature matches this id, time and body with this secret';
  const isOff = now !== undefined && Math.abs(now - Number(timestamp) * 1000) > toleranceMs;
  return isOff ? 'the signature matches, but its time is more than 5 minutes from now' : null;
}

/** Tells whether the text is a secret of 24 to 64 bytes, as Standard Webhooks requires. */
function isSecret(text: string): boolean {
  if (!/^whsec_[0-9A-Za-z+/]+={0,2}$/.test(text)) return false;
  const { length } = Buffer.from(text.slice(secretPrefix.length), 'base64');
  return length >= 24 && length <= 64;
}

/** Derives a webhook secret (`whsec_` and base64) from a private text. */
export function secretFrom(text: string): string {
  return secretPrefix + createHash('sha256').update(text).digest('base64');
}
