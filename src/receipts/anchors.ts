// Publishes the signed heads of sealed logs outside of the store, once a day: posts them to
// `receipts.webhook`, or without that setting writes them to the log of the daemon. A kept head
// later proves that the sealed log was not rewritten.
import type { App } from '../core/app.ts';
import { InternalError } from '../platform/errors.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { createPoster } from '../webhooks/posting/post.ts';
import type { SignedHead } from './head.ts';
import { findPublicKey } from './keys.ts';
import { selectTrees } from './queries.ts';

/**
 * Age of the heads to publish, in ms: a day, and an hour in case the job runs late. A head may thus
 * be published twice.
 */
const backMs = 25 * 3600_000;
const atOnce = 500;

/** A signed head with the organization of the log. */
export interface Anchor extends SignedHead {
  organizationId: string;
  publicKey: string;
}

/** Reads the heads that were signed in the last 25 hours. */
async function* recentHeads(app: App): AsyncGenerator<Anchor[]> {
  const since = app.clock.now() - backMs;
  for (let after = ''; ; ) {
    const trees = await selectTrees(app.store.db, since, after, atOnce);
    const last = trees.at(-1);
    if (!last) return;
    after = last.organization_id;
    const heads: Anchor[] = [];
    for (const { organization_id: organizationId, key_id: keyId, ...tree } of trees) {
      const { size, root, sealed_at, signature } = tree;
      const publicKey = await findPublicKey(app, keyId);
      heads.push({
        organizationId,
        size,
        root,
        at: isoTime(sealed_at),
        signature,
        keyId,
        publicKey,
      });
    }
    yield heads;
  }
}

/**
 * Publishes the heads that were signed in the last 25 hours; for the scheduler.
 * @throws InternalError if the webhook does not accept the heads.
 */
export async function anchorHeads(app: App): Promise<void> {
  const url = app.config.receipts.webhook;
  if (url === null) {
    for await (const heads of recentHeads(app)) {
      for (const head of heads) app.log.info(head, 'signed head of the sealed log');
    }
    return;
  }
  // The operator configured this receiver, so a private address is allowed.
  const webhooks = { ...app.config.webhooks, allowPrivateAddresses: true };
  const poster = createPoster({ ...app, config: { ...app.config, webhooks } });
  try {
    for await (const heads of recentHeads(app)) {
      const body = JSON.stringify({ type: 'receipts.heads', heads });
      const headers = { 'content-type': 'application/json' };
      const { isSuccess, statusCode, errorClass } = await poster.post({ url, headers, body });
      if (isSuccess) continue;
      const why = statusCode === null ? errorClass : `it answered ${statusCode}`;
      throw new InternalError(`receipts.webhook did not take the heads: ${why}`, 'webhooks');
    }
  } finally {
    await poster.close();
  }
}
