// The fields by which receivers group the mail of a sender. Feedback loops such as Gmail's report
// by `Feedback-ID`. Readers filter the mail of campaigns by `List-Id` (RFC 2919).
import { domainOf } from '../../platform/net/address.ts';
import type { MessageRow } from './queries.ts';

type Header = readonly [name: string, value: string];

const nameOfFeedback = 'Feedback-ID';
const nameOfList = 'List-Id';
/** RFC 2919 2: most characters of a list identifier. */
const longestListId = 255;

/**
 * Returns the field `Feedback-ID` of an organization's mail: run, unsubscribe group, organization.
 */
export function feedbackField(
  organizationId: string,
  runId: string | null = null,
  groupId: string | null = null,
): { name: string; value: string } {
  const value = `${runId ?? '-'}:${groupId ?? '-'}:${organizationId}:svc`;
  return { name: nameOfFeedback, value };
}

/**
 * Returns the identifier of the list to which a campaign writes, at the domain of the author: the
 * unsubscribe group, or else all campaigns of the organization. All runs of a campaign have the
 * same identifier. Null if it would be too long.
 */
function listIdOf(
  {
    organization_id: organizationId,
    from_email: from,
  }: Pick<MessageRow, 'organization_id' | 'from_email'>,
  groupId: string | null,
): string | null {
  const id = `${groupId ?? organizationId}.${domainOf(from)}`;
  return id.length <= longestListId ? `<${id}>` : null;
}

/**
 * Returns the headers of a message with `Feedback-ID` and, for a campaign, `List-Id`. Fields that
 * the headers already have stay unchanged.
 */
export function withFeedbackFields(
  message: Pick<MessageRow, 'organization_id' | 'campaign_run_id' | 'from_email'>,
  groupId: string | null,
  headers: readonly Header[],
): readonly Header[] {
  const isMissing = (wanted: string) =>
    !headers.some(([name]) => name.toLowerCase() === wanted.toLowerCase());
  const { organization_id: organizationId, campaign_run_id: runId } = message;
  const added: Header[] = [];
  if (isMissing(nameOfFeedback)) {
    added.push([nameOfFeedback, feedbackField(organizationId, runId, groupId).value]);
  }
  const listId = runId === null ? null : listIdOf(message, groupId);
  if (listId !== null && isMissing(nameOfList)) added.push([nameOfList, listId]);
  return added.length === 0 ? headers : [...headers, ...added];
}
