// The targets of the race with Postfix, and the result of a race beside them.
import type { Figures } from './contender.ts';

interface Target {
  what: string;
  /** The measured contender. */
  of: 'svc rsa' | 'svc ed25519';
  against?: 'postfix' | 'postfix+opendkim';
  figure: 'acceptPerSecond' | 'endToEndPerSecond' | 'coreMsPerMessage' | 'p99Ms' | 'stallMs';
  atLeast?: number;
  below?: number;
}

const targets: readonly Target[] = [
  accept('svc rsa'),
  accept('svc ed25519'),
  { what: 'p99 of POST, ms', of: 'svc rsa', figure: 'p99Ms', below: 50 },
  { what: 'p99 of POST, ms', of: 'svc ed25519', figure: 'p99Ms', below: 50 },
  endToEnd('svc rsa', 'postfix', 2.5),
  endToEnd('svc rsa', 'postfix+opendkim', 6),
  endToEnd('svc ed25519', 'postfix', 4),
  endToEnd('svc ed25519', 'postfix+opendkim', 10),
  { what: 'core-ms per message', of: 'svc rsa', figure: 'coreMsPerMessage', below: 0.7 },
  { what: 'core-ms per message', of: 'svc ed25519', figure: 'coreMsPerMessage', below: 0.4 },
  { what: 'longest event-loop stall, ms', of: 'svc rsa', figure: 'stallMs', below: 100 },
  { what: 'longest event-loop stall, ms', of: 'svc ed25519', figure: 'stallMs', below: 100 },
];

function accept(of: Target['of']): Target {
  const what = 'durable accepts';
  return { what, of, against: 'postfix', figure: 'acceptPerSecond', atLeast: 5 };
}

function endToEnd(of: Target['of'], against: NonNullable<Target['against']>, atLeast: number) {
  return { what: 'end to end', of, against, figure: 'endToEndPerSecond', atLeast } as const;
}

export interface Verdict {
  what: string;
  contender: string;
  target: string;
  measured: string;
  /**
   * Core-ms of the other per core-ms of ours: a ratio that other load on the machine does not
   * change.
   */
  'core-ms ratio': string;
  verdict: 'ok' | 'short' | 'not measured';
}

export function judge(results: ReadonlyMap<string, Figures>): Verdict[] {
  return targets.map((target) => {
    const { what, of, against, figure, atLeast, below } = target;
    const ours = results.get(of);
    const other = against && results.get(against);
    const limit = atLeast === undefined ? `≤ ${below}` : `≥ ${atLeast} × ${against}`;
    const value = ours?.[figure] ?? Number.NaN;
    const measured = against ? value / (other?.[figure] ?? Number.NaN) : value;
    const isMet = atLeast === undefined ? measured <= (below ?? 0) : measured >= atLeast;
    const unit = against ? ' ×' : '';
    return {
      what,
      contender: of,
      target: limit,
      measured: Number.isNaN(measured) ? '-' : `${measured.toFixed(2)}${unit}`,
      'core-ms ratio':
        ours && other ? `${(other.coreMsPerMessage / ours.coreMsPerMessage).toFixed(2)} ×` : '',
      verdict: Number.isNaN(measured) ? 'not measured' : isMet ? 'ok' : 'short',
    };
  });
}
