// Why a question to the DNS has no answer, and whether asking again later may help.

export type DnsErrorKind =
  /** NXDOMAIN: the name does not exist. */
  | 'not-found'
  /** The name exists, without records of the type. */
  | 'no-data'
  | 'timeout'
  /** SERVFAIL, an error code we do not know, or a server that cannot be reached. */
  | 'server-failure'
  | 'refused'
  /** The answer cannot be read (temporary), or a name asked for or pointed to is none (lasting). */
  | 'malformed'
  /** CNAMEs that lead back, or on and on. */
  | 'loop';

/** As in node:dns, so that libraries made for it understand. */
const codes: Record<DnsErrorKind, string> = {
  'not-found': 'ENOTFOUND',
  'no-data': 'ENODATA',
  timeout: 'ETIMEOUT',
  'server-failure': 'ESERVFAIL',
  refused: 'EREFUSED',
  malformed: 'EBADRESP',
  loop: 'EBADRESP',
};

const temporaryKinds = new Set<DnsErrorKind>(['timeout', 'server-failure', 'refused', 'malformed']);

export class DnsError extends Error {
  readonly kind: DnsErrorKind;
  /** Asking again later may help. */
  readonly temporary: boolean;
  /** The code that node:dns gives for it: ENOTFOUND, ENODATA, ESERVFAIL, … */
  readonly code: string;

  /** `question` is the type and name asked for; `why` names the server where one was asked. */
  constructor(
    kind: DnsErrorKind,
    question: string,
    why: string,
    { temporary = temporaryKinds.has(kind), code = codes[kind] } = {},
  ) {
    super(`${question}: ${why}`);
    this.kind = kind;
    this.temporary = temporary;
    this.code = code;
  }
}
