// Why a session could not go on. Thrown inside the smtp-* files only: openSession and deliver turn it
// into values, since a remote failure is an outcome (ARCHITECTURE.md, "Rules").
import type { RemoteReply } from './outcome.ts';

/**
 * `connection`: refused, lost or timed out. `protocol`: what arrived is no SMTP, or was not asked for.
 * `refused`: the server turned the whole session away (banner, EHLO, 421 anywhere). `tls`: demanded
 * and not had. `auth`: our credentials were not taken.
 */
export type FaultKind = 'connection' | 'protocol' | 'refused' | 'tls' | 'auth';

/** Enhanced codes (RFC 3463) of faults that come without a reply. */
const localCodes: Record<FaultKind, string> = {
  connection: '4.4.2',
  protocol: '4.5.0',
  refused: '4.3.2',
  tls: '4.7.5',
  auth: '4.7.8',
};

export class SmtpFault extends Error {
  readonly kind: FaultKind;
  readonly reply: RemoteReply;
  /** The connection was closed or reset under us, rather than given up by us. */
  readonly isLoss: boolean;

  constructor(kind: FaultKind, reply: RemoteReply, isLoss = false) {
    super(reply.text);
    this.kind = kind;
    this.reply = reply;
    this.isLoss = isLoss;
  }

  /** The connection was lost while the reply to `verb` was waited for. */
  static lost(verb: string, text: string) {
    const { reply } = SmtpFault.of('connection', verb, text);
    return new SmtpFault('connection', reply, true);
  }

  /** A fault that we state ourselves, without a reply of the server. */
  static of(kind: FaultKind, verb: string, text: string, enhancedCode = localCodes[kind]) {
    return new SmtpFault(kind, { code: null, enhancedCode, text, verb });
  }
}
