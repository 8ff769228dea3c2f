// Finds ids at a server by their last characters, or the newest id, in the lists of the API.
import { type IdKind, prefixOf } from '../../../src/platform/runtime/ids.ts';
import { itemsOfPages, type Page } from '../items.ts';
import { UsageError } from '../output/failure.ts';

/** Most ids that a search returns, as in the store (input/whole-id.ts). */
const mostFound = 3;
const mostPages = 20;

/**
 * Path of the list for each kind of ids, by prefix. Leaves out kinds if the path has the id of a
 * parent.
 */
const lists: Readonly<Record<string, string>> = {
  key: '/v1/api-keys',
  wep: '/v1/webhooks',
  dom: '/v1/email/domains',
  snd: '/v1/email/senders',
  mbx: '/v1/mailboxes',
  ns: '/v1/mailbox-namespaces',
  rpl: '/v1/saved-replies',
  blk: '/v1/email/blocks',
  contact: '/v1/contacts',
  grp: '/v1/contact-groups',
  usg: '/v1/unsubscribe-groups',
  conv: '/v1/conversations',
  tmpl: '/v1/templates',
  tfam: '/v1/templates/families',
  msg: '/v1/messages',
  camp: '/v1/campaigns',
  ext: '/v1/extensions',
  exti: '/v1/extension-installations',
  act: '/v1/mailbox-actions',
};

/** Reads a page of the list with this path. */
type ReadList = (path: string, query: object) => Promise<Page<{ id: string }>>;

/**
 * Returns up to 3 ids with this ending, the newest first; the empty ending fits all ids, but only
 * sent messages. Reads the first 2,000 items of the list.
 * @throws UsageError for a kind without a list
 */
export async function idsInLists(read: ReadList, kind: IdKind, ending: string): Promise<string[]> {
  const prefix = prefixOf(kind);
  const path = lists[prefix];
  if (path === undefined) {
    throw new UsageError(`--server: give the whole id, ${prefix}_…: no list of the API has all`);
  }
  // As in the store, the newest message is the latest sent message.
  const filter = prefix === 'msg' && ending === '' ? { direction: 'outbound' } : {};
  const found: string[] = [];
  const all = itemsOfPages((place) => read(path, { ...filter, ...place }), mostPages);
  for await (const { id } of all) if (id.endsWith(ending)) found.push(id);
  // The beginning of an id is the time of creation.
  return found.sort().reverse().slice(0, mostFound);
}
