// Sends the due mails that ask for confirmation. An import can make 100,000 mails due. They leave
// at a bounded rate, organizations take turns, and later mails of an import wait for mails of
// single requests. The handling of a due mail is in mail-due.ts.
import { admissionOf } from '../../access/admission/admission.ts';
import { drawTokens } from '../../access/admission/draw-tokens.ts';
import { findSpent } from '../../access/admission/quota.ts';
import type { App } from '../../core/app.ts';
import { createDueLoop, type DueLoop, usualRestMs } from '../../platform/store/changes/due-loop.ts';
import { nextLook } from '../../run-ledger/next-look.ts';
import { mailsPerSecond } from './limits.ts';
import { mailIn, putOffDue } from './mail-due.ts';
import { findDue, findDueOrganizations } from './queries.ts';

/** Least time between two steps of the loop. */
const turnMs = 1_000;
/** Most organizations in a step of the loop. */
const organizationsPerTurn = 20;

/** Creates the loop of a daemon that mails due requests for a confirmation. */
export function createConfirmationLoop(app: App): DueLoop {
  /** Last organization of the previous step; empty at the begin of a round. */
  let after = '';
  let nextTurn = 0;
  /**
   * Times until which organizations wait, by the steady clock. A restarted daemon checks them
   * again.
   */
  const waits = new Map<string, number>();
  return createDueLoop(app, {
    name: 'confirmations',
    restMs: usualRestMs,
    async step() {
      const elapsed = app.clock.elapsed();
      const wait = nextTurn - elapsed;
      if (wait > 0) return app.clock.now() + wait;
      nextTurn = elapsed + turnMs;
      for (const [id, until] of waits) if (until <= elapsed) waits.delete(id);
      const now = app.clock.now();
      const found = await findDueOrganizations(app.store.db, after, organizationsPerTurn);
      const isCut = found.length === organizationsPerTurn;
      const hasBegun = after !== '';
      after = isCut ? (found.at(-1)?.organization_id ?? '') : '';
      const due = found.filter((one) => one.due_at <= now && !waits.has(one.organization_id));
      for (const { organization_id } of due) {
        const until = await mailOrWait(app, organization_id, now);
        if (until !== null) waits.set(organization_id, elapsed + until - now);
      }
      if (isCut || hasBegun || due.length > 0) return now + turnMs;
      const laterOf = (id: string) => now + (waits.get(id) ?? elapsed) - elapsed;
      return Math.min(...found.map((one) => Math.max(one.due_at, laterOf(one.organization_id))));
    },
    trouble: 'mails to confirm a group cannot be sent now: trying again',
  });
}

/**
 * Mails due confirmations as `mailDue` does. After an error, puts the mails of this organization
 * off for an hour, so that further organizations continue.
 */
async function mailOrWait(app: App, organizationId: string, now: number): Promise<number | null> {
  try {
    return await mailDue(app, organizationId, now);
  } catch (error) {
    await app.store.write((trx) => putOffDue(trx, organizationId, now), 'quiet');
    app.log.error(
      { err: error, organizationId },
      'mails to confirm a group wait for an hour: they met an error of the service',
    );
    return null;
  }
}

/**
 * Mails the first due confirmations of an organization. Returns the time until which the rest
 * waits, ms since 1970, or null. Leaves half of the rate limit to requests, as a campaign run does.
 */
async function mailDue(app: App, organizationId: string, now: number): Promise<number | null> {
  const drawer = { organizationId, keyId: null };
  const due = await findDue(app.store.db, organizationId, now, mailsPerSecond);
  const isSpent = (await findSpent(app, app.store.db, [organizationId])).has(organizationId);
  const tokens = isSpent
    ? { drawn: 0, waitMs: 0 }
    : await drawTokens(app, drawer, due.length, { leavesHalf: true });
  const { mailed, refusal, wait } = await app.store.write((trx) =>
    mailIn(app, trx, { organizationId, now, tokens: tokens.drawn }),
  );
  await admissionOf(app).giveBack(drawer, tokens.drawn - mailed);
  if (mailed > 0) app.metrics.accepted.inc({ direction: 'outbound', via: 'service' }, mailed);
  if (refusal !== null) {
    app.log.warn(
      { organizationId, reason: refusal.message },
      'mails to confirm a group wait for an hour: the organization may not send them now',
    );
  }
  if (wait === null) return null;
  const until = wait.reason === 'rate' ? now + tokens.waitMs : wait.until;
  return nextLook({ reason: wait.reason, until }, app.clock);
}
