// Reads a reply as the tables and the tests write it: `RCPT: 550 5.1.1 text`. The verb may be left
// out (RCPT), and the codes of a `DSN:`.
import type { RemoteReply } from '../../../src/mail/smtp/outcome.ts';

const form =
  /^(?:(connect|EHLO|STARTTLS|AUTH|MAIL|RCPT|DATA|dot|DSN): )?(?:(\d{3})(?:[ -]|$))?(?:([245]\.\d{1,3}\.\d{1,3})(?: |$))?(.*)$/s;

export function readReplyLine(line: string): RemoteReply {
  const [, verb = 'RCPT', code, enhancedCode = null, text = ''] = form.exec(line) ?? [];
  return { verb, code: code === undefined ? null : Number(code), enhancedCode, text };
}
