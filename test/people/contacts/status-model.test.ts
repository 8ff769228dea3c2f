// The status of a contact under every order of bounce, complaint, unsubscribing, resubscribing, a
// lifted block and archiving: a model beside the service, shown and listed, on both stores. Random
// orders of up to twelve steps; a failure prints its seed and the shortest failing order.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comeBack } from '../../../src/consent/opt-in/confirm-member.ts';
import { leaveAll } from '../../../src/outbound/unsubscribe-links/leave.ts';
import { deleteBlock } from '../../../src/people/blocks/blocks.ts';
import { findActiveBlocks } from '../../../src/people/blocks/queries.ts';
import type { BlockReason } from '../../../src/people/blocks/schema.ts';
import { blockAddress } from '../../../src/people/blocks/suppression.ts';
import {
  createContact,
  getContact,
  listContacts,
  updateContact,
} from '../../../src/people/contacts/contacts.ts';
import { type ContactStatus, contactStatuses } from '../../../src/people/contacts/schema.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

const steps = [
  ...(['bounce', 'complaint', 'unsubscribe', 'return', 'lift', 'archive', 'revive'] as const),
  ...(['leave group', 'block by hand'] as const),
];
type Step = (typeof steps)[number];

/** At most one block of all mail per reason: it stays until it is lifted. */
interface Model {
  blocks: ReadonlySet<BlockReason>;
  isArchived: boolean;
}

const blocks: Partial<Record<Step, BlockReason>> = {
  bounce: 'bounce',
  complaint: 'complaint',
  unsubscribe: 'unsubscribe',
  'block by hand': 'manual',
};

function after(model: Model, step: Step): Model {
  const reason = blocks[step];
  if (reason) return { ...model, blocks: new Set([...model.blocks, reason]) };
  // Resubscribing lifts only the block of unsubscribing.
  if (step === 'return') {
    const kept = [...model.blocks].filter((reason) => reason !== 'unsubscribe');
    return { ...model, blocks: new Set(kept) };
  }
  if (step === 'lift') return { ...model, blocks: new Set() };
  if (step === 'archive') return { ...model, isArchived: true };
  return step === 'revive' ? { ...model, isArchived: false } : model;
}

const byWeight = ['complaint', 'bounce', 'unsubscribe', 'manual'] as const;

function gravest({ blocks: held }: Model): BlockReason | undefined {
  return byWeight.find((reason) => held.has(reason));
}

function statusOf(model: Model): ContactStatus {
  if (model.isArchived) return 'archived';
  const of = { bounce: 'bounced', complaint: 'complained', unsubscribe: 'unsubscribed' } as const;
  const reason = gravest(model);
  return reason === undefined || reason === 'manual' ? 'active' : of[reason];
}

describe.each(stores)('the status of a contact on %s', (store) => {
  const test = eachApp({ store });

  it('follows the model in any order of events', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    const group = await createGroup(app, caller, { name: 'News' });
    let serial = 0;

    async function take(step: Step, id: string, address: string): Promise<void> {
      const leaver = { organizationId, address, groupId: group.id, messageId: null };
      const reason = blocks[step];
      if (step === 'archive' || step === 'revive') {
        const status = step === 'archive' ? 'archived' : 'active';
        await updateContact(app, caller, id, { status });
      } else if (step === 'lift') {
        const active = await findActiveBlocks(app.store.db, organizationId, [address]);
        for (const block of active) await deleteBlock(app, caller, block.id);
      } else {
        await app.store.write(async (trx) => {
          if (step === 'unsubscribe') await leaveAll(app, trx, [{ ...leaver, scope: 'all' }]);
          else if (step === 'leave group')
            await leaveAll(app, trx, [{ ...leaver, scope: 'group' }]);
          else if (step === 'return') await comeBack(app, trx, { ...leaver, scope: 'all' });
          else if (reason) {
            await blockAddress(app, trx, { organizationId, address, reason, messageId: null });
          }
        });
      }
    }

    const order = fc.array(fc.constantFrom(...steps), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(order, async (taken) => {
        const address = `u${serial++}@example.com`;
        const { id } = await createContact(app, caller, { email: address.toUpperCase() });
        let model: Model = { blocks: new Set(), isArchived: false };
        for (const step of taken) {
          await take(step, id, address);
          model = after(model, step);
          const shown = await getContact(app, caller, id);
          expect(shown.status).toBe(statusOf(model));
          const reason = gravest(model);
          const why = reason === undefined ? null : expect.stringContaining(`(${reason})`);
          expect(shown.statusReason).toEqual(why);
        }
        for (const status of contactStatuses) {
          const query = { page: 1, limit: 1, email: address, status };
          const { items, pagination } = await listContacts(app, caller, query);
          const isIt = status === statusOf(model);
          expect([status, items.length, pagination.total]).toEqual([status, +isIt, +isIt]);
        }
      }),
      { numRuns: store === 'sqlite' ? 60 : 25 },
    );
    // Each contact is listed under exactly one status.
    let total = 0;
    for (const status of contactStatuses) {
      total += (await listContacts(app, caller, { page: 1, limit: 1, status })).pagination.total;
    }
    expect(total).toBe(serial);
  });
});
