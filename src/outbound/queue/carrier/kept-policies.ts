// Stores MTA-STS policies, so that they survive a restart; bounded by number and age. A fault of
// the store costs a line of the log, never a delivery. src/mail/smtp/mta-sts.ts reads a policy.
import type { App } from '../../../core/app.ts';
import type { KeptPolicies } from '../../../mail/smtp/mta-sts-fetch.ts';
import { deleteOldStsPolicies, findStsPolicy, upsertStsPolicy } from './mta-sts-queries.ts';

/** Most domains with a stored policy. Above this number, the policies fetched first are deleted. */
const mostKept = 10_000;
/** Writes between two sweeps, as a sweep reads all policies. */
const writesPerSweep = 100;

/** Reads and writes MTA-STS policies in the store of the app. */
export function keptPolicies({
  store,
  clock,
  log,
}: Pick<App, 'store' | 'clock' | 'log'>): KeptPolicies {
  let writes = 0;
  return {
    async find(domain) {
      try {
        const row = await findStsPolicy(store.db, domain);
        if (!row) return null;
        const { policy_id: id, policy: text, fetched_at: fetchedAt, expires_at: expiresAt } = row;
        return { id, text, fetchedAt, expiresAt };
      } catch (error) {
        log.warn({ err: error, domain }, 'MTA-STS: a stored policy cannot be read');
        return null;
      }
    },
    async keep(domain, { id, text, fetchedAt, expiresAt }) {
      const row = {
        domain,
        policy_id: id,
        policy: text,
        fetched_at: fetchedAt,
        expires_at: expiresAt,
      };
      try {
        await store.write(async (trx) => {
          await upsertStsPolicy(trx, row);
          if (writes++ % writesPerSweep === 0) {
            await deleteOldStsPolicies(trx, clock.now(), mostKept);
          }
        }, 'quiet');
      } catch (error) {
        log.warn({ err: error, domain }, 'MTA-STS: a policy cannot be stored');
      }
    },
  };
}
