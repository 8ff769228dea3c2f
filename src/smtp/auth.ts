// SMTP AUTH (RFC 4954) with PLAIN (RFC 4616) or LOGIN. Whether credentials may be sent at all on this
// connection is decided in open.ts.
import type { Capabilities } from './capabilities.ts';
import type { SmtpChannel } from './channel.ts';
import { SmtpFault } from './fault.ts';
import type { SmtpReply } from './reply.ts';

export interface Credentials {
  username: string;
  password: string;
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function refuse(channel: SmtpChannel, reply: SmtpReply): never {
  throw channel.fail(new SmtpFault('auth', channel.toRemote(reply, 'AUTH')));
}

async function authPlain(channel: SmtpChannel, token: string): Promise<void> {
  const reply = await channel.ask({
    verb: 'AUTH',
    line: `AUTH PLAIN ${token}`,
    shown: 'AUTH PLAIN (hidden)',
  });
  if (reply.code !== 235) refuse(channel, reply);
}

async function authLogin(channel: SmtpChannel, username: string, password: string) {
  const steps = [
    { line: 'AUTH LOGIN', shown: 'AUTH LOGIN', expected: 334 },
    { line: username, shown: '(user name hidden)', expected: 334 },
    { line: password, shown: '(password hidden)', expected: 235 },
  ];
  for (const { line, shown, expected } of steps) {
    const reply = await channel.ask({ verb: 'AUTH', line, shown });
    if (reply.code !== expected) refuse(channel, reply);
  }
}

/** Logs in. @throws SmtpFault of kind `auth` when the server refuses or offers no method we know */
export async function authenticate(
  channel: SmtpChannel,
  offered: Capabilities,
  { username, password }: Credentials,
): Promise<void> {
  const token = toBase64(`\0${username}\0${password}`);
  channel.transcript.hide([token, toBase64(username), toBase64(password), password]);
  if (offered.auth.includes('PLAIN')) return authPlain(channel, token);
  if (offered.auth.includes('LOGIN')) {
    return authLogin(channel, toBase64(username), toBase64(password));
  }
  const text = 'the server offers neither AUTH PLAIN nor AUTH LOGIN';
  throw channel.fail(SmtpFault.of('auth', 'AUTH', text, '4.7.8'));
}
