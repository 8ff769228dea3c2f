// A person of the organization unsubscribes a contact from a group, on request of the contact.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { newBlockRow, presentBlock } from '../../people/blocks/blocks.ts';
import { insertBlocks } from '../../people/blocks/queries.ts';
import type { Block } from '../../people/blocks/schema.ts';
import { getContact } from '../../people/contacts/contacts.ts';
import { getGroup } from '../../people/unsubscribe-groups/groups.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { ListPlace } from './schema.ts';

/**
 * Blocks the first address of a contact for the mail of a group. Lifting the block undoes it.
 * @throws ResourceNotFoundError; ConflictError for a contact without an address, or an address that
 * left already.
 */
export async function leaveList(app: App, caller: Caller, place: ListPlace): Promise<Block> {
  const { contactId, unsubscribeGroupId } = place;
  const { name } = await getGroup(app, caller, unsubscribeGroupId);
  const { identities } = await getContact(app, caller, contactId);
  const [first] = identities;
  if (!first) throw new ConflictError('contact', `${contactId} has no address that could leave`);
  const address = first.identifier;
  const row = {
    ...newBlockRow(app, caller.organizationId, { address, reason: 'unsubscribe', messageId: null }),
    unsubscribe_group_id: unsubscribeGroupId,
  };
  return app.store.write(async (trx) => {
    if ((await insertBlocks(trx, [row])).length === 0) {
      throw new ConflictError('block', `${address} left "${name}" already`);
    }
    const details = { address, reason: row.reason, unsubscribeGroupId };
    await record(app, trx, caller, { subject: row.id, action: 'block.created', details });
    return presentBlock(row);
  });
}
