// The parts of a sent mail that existed before the send, and their digest.
import { hash } from 'node:crypto';

export function sha256(bytes: Buffer | string): string {
  return `sha256:${hash('sha256', bytes)}`;
}

const madeAtSending = /^(?:date|message-id|dkim-signature|x-service-token)$/i;

/** Removes the fields that a mail gets when it is sent. */
export function withoutSendingFields(raw: Buffer): Buffer {
  const text = raw.toString('latin1');
  const end = text.indexOf('\r\n\r\n') + 2;
  const fields = text.slice(0, end).match(/^\S.*\r\n(?:[ \t].*\r\n)*/gm) ?? [];
  const kept = fields.filter((field) => !madeAtSending.test(field.slice(0, field.indexOf(':'))));
  return Buffer.from(kept.join('') + text.slice(end), 'latin1');
}
