// The file of `svc rehearse --scenario`, and the report of a rehearsal.
import { z } from 'zod';

const mostDomains = 10_000;

const rate = z.number().min(0).max(1);

const rates = z.strictObject({
  bounceRate: rate.default(0).meta({ description: 'Share of the addresses that bounce' }),
  complaintRate: rate.default(0).meta({ description: 'Share of the recipients that complain' }),
});

export const scenarioInput = z.strictObject({
  default: rates.optional().meta({ description: 'Rates of all other domains' }),
  domains: z
    .record(z.string().max(255), rates)
    .refine((domains) => Object.keys(domains).length <= mostDomains, {
      error: `must have at most ${mostDomains} domains`,
    })
    .optional()
    .meta({ description: 'Rates by recipient domain, such as gmail.com or *.example.com' }),
});

export type Scenario = z.output<typeof scenarioInput>;
export type Rates = z.output<typeof rates>;

/** A limit that holds mail back. */
export interface RehearsedLimit {
  kind: string;
  /** Time of the end, ISO 8601; null if a person ends it. */
  until: string | null;
}

/** A day, or the part of it that was played. */
export interface RehearsedDay {
  /** Date in UTC, as `2026-03-02`. */
  date: string;
  /** Recipients of new messages. */
  accepted: number;
  delivered: number;
  bounced: number;
  /** Recipients that still wait at the end of the day. */
  waiting: number;
  limits: RehearsedLimit[];
}

/** Outcome of a message for a recipient. */
export interface LedgerEntry {
  /**
   * Time of the outcome, or of the next try of mail that still waits; null if a person decides it.
   */
  at: string | null;
  organizationId: string;
  recipient: string;
  subject: string;
  outcome: string;
  /** Words of the refusal, or the reason of the wait. */
  reason: string | null;
}

export interface Rehearsal {
  from: string;
  to: string;
  days: RehearsedDay[];
  ledger: LedgerEntry[];
}
