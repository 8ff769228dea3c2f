// Where MTA-STS policies are kept over a restart: the store, bounded by number and by age. A store that
// is in trouble costs a line of the log, never a delivery. What a policy says is src/smtp/mta-sts.ts.
import type { App } from '../../app.ts';
import type { KeptPolicies } from '../../smtp/mta-sts-fetch.ts';
import { deleteOldStsPolicies, findStsPolicy, upsertStsPolicy } from './mta-sts-queries.ts';

/** Domains of which a policy is kept; of those beyond, what was fetched first is forgotten. */
const mostKept = 10_000;
/** A sweep looks at all of them. */
const writesPerSweep = 100;

/** The policies in the store of the app. */
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
        log.warn({ err: error, domain }, 'MTA-STS: a policy that was kept cannot be read');
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
        log.warn({ err: error, domain }, 'MTA-STS: a policy cannot be kept');
      }
    },
  };
}
