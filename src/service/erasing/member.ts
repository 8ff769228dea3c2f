// Erases name and address of a deleted member where rows copy them. The audit has an index by
// member; tables with rare copies are walked from the time of the member on.
import { runNoun } from '../../campaigns/setup/schema.ts';
import { eraseInstallerNames, eraseUpgraderNames } from '../../extensions/installation-queries.ts';
import { installationNoun, versionChangeNoun } from '../../extensions/installation-schema.ts';
import { clearEntries } from '../../history/audit/queries.ts';
import type { ErasureRow } from '../../history/erasures/queries.ts';
import { eraseEventNames } from '../../history/events/queries.ts';
import { eraseActionNames } from '../../inbox/approvals/queries.ts';
import { draftNoun } from '../../inbox/replies/schema.ts';
import { eraseDraftNames } from '../../inbox/threads/drafts/draft-queries.ts';
import { eraseNoteNames } from '../../inbox/threads/marks/note-queries.ts';
import { noteNoun } from '../../inbox/threads/schema.ts';
import { eraseSenderNames } from '../../outbound/messages/forget/forget-queries.ts';
import { firstIdAt, type IdKind, timeOfId } from '../../platform/runtime/ids.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import type { EraseNames } from '../../platform/store/rows/names.ts';
import { eraseRunNames } from '../../run-ledger/queries.ts';
import { eraseAnswerNames, eraseBodyNames } from '../../webhooks/deliveries/erase-queries.ts';

/** Most rows of a table that a transaction reads. */
const batch = 200;

/** Result of a transaction that erases copies. */
export interface Erased {
  isDone: boolean;
  /**
   * Whether an open proposal still shows a copy. The copy stays until the proposal is decided or
   * expires.
   */
  isWaiting?: boolean;
  about?: object;
}

/** Time by which the clock may have run ahead when the member was made. */
const aheadMs = 24 * 3_600_000;

/** Functions that erase the member in a table, each with the kind of ids that order the table. */
const walks: readonly (readonly [IdKind, EraseNames])[] = [
  [runNoun, eraseRunNames],
  ['mailboxAction', eraseActionNames],
  [noteNoun, eraseNoteNames],
  [draftNoun, eraseDraftNames],
  [installationNoun, eraseInstallerNames],
  [versionChangeNoun, eraseUpgraderNames],
  ['message', eraseSenderNames],
  ['event', eraseEventNames],
  ['event', eraseBodyNames],
  ['webhookAttempt', eraseAnswerNames],
];

/** Erases a batch of copies; `about` records the walk, and the last id that it read. */
export async function eraseMember(trx: Db, row: ErasureRow): Promise<Erased> {
  const { id, organization_id: organizationId } = row;
  const about = fromJson<{ walk?: number; after?: string }>(row.about);
  const { walk = 0 } = about;
  const named = await clearEntries(trx, 'member', { organizationId, id }, batch);
  const detailed = await clearEntries(trx, 'details', { organizationId, id }, batch);
  if (named === batch || detailed === batch) return { isDone: false, about };
  const [kind, erase] = walks[walk] ?? [];
  if (!kind || !erase) return { isDone: true };
  const after = about.after ?? firstIdAt(kind, timeOfId(id) - aheadMs);
  const reached = await erase(trx, { id, organizationId }, after, batch);
  return { isDone: false, about: reached === null ? { walk: walk + 1 } : { walk, after: reached } };
}
