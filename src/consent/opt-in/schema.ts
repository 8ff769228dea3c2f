// Input and output shapes of the members of a double opt-in group.
import { z } from 'zod';
import { cursorPageOf, cursorQuery } from '../../core/api/pagination.ts';
import { idOf, timeRange } from '../../core/api/resource-schema.ts';
import { contactNoun } from '../../people/contacts/schema.ts';
import { unsubscribeGroupNoun } from '../../people/unsubscribe-groups/schema.ts';
import { confirmationWaits, memberStatuses } from './queries.ts';

const mostMembers = 1_000;

export const membersInput = z
  .strictObject({
    contactIds: z
      .array(idOf(contactNoun, 'is not a contact id'))
      .min(1)
      .max(mostMembers, `must be at most ${mostMembers} at a time`)
      .meta({ description: 'Ids of contacts, at most 1,000' }),
  })
  .meta({ examples: [{ contactIds: ['contact_06dq2k0qz8h3v5m1r9t4w7xy'] }] });

export const leaveListInput = z.strictObject({
  contactId: membersInput.shape.contactIds.element,
  unsubscribeGroupId: idOf(unsubscribeGroupNoun, 'is not an unsubscribe group id'),
});

export const listMembersQuery = z.strictObject({
  status: z.enum(memberStatuses).optional().meta({ description: 'Only members in this state' }),
  ...timeRange('members added'),
  ...cursorQuery,
});

const time = z.iso.datetime().nullable();

const member = {
  contactId: z.string().describe('Id of the contact'),
  status: z
    .enum(memberStatuses)
    .meta({ description: 'A `pending` contact gets no campaign of the group' }),
  confirmedAt: time.describe('Time of the confirmation; null before'),
  mails: z.number().meta({ description: 'Mails with a link to confirm so far, at most 3' }),
  lastMailAt: time.describe('Time of the last mail with a link; null before the first'),
  linkExpiresAt: time.meta({ description: 'End of the link in the last mail' }),
  nextMailAt: time.meta({ description: 'Time at which a mail is due' }),
  waitReason: z
    .enum(confirmationWaits)
    .nullable()
    .meta({ description: 'Reason why the due mail waits, as of a campaign run' }),
  createdAt: z.iso.datetime().describe('Time at which the contact was added'),
};

export const memberOutput = z
  .object(member)
  .meta({ id: 'UnsubscribeGroupMember', description: 'A contact that was asked to confirm' });

/** Results of adding a contact. */
export const addResults = ['asked', 'recent', 'limit', 'confirmed', 'blocked'] as const;

export const addedMemberOutput = z
  .object({
    ...member,
    result: z.enum(addResults).meta({
      description:
        '`asked`: a mail is due now; `recent`: the last one is less than an hour old; `limit`: ' +
        'there were three; `confirmed`: it is confirmed already; `blocked`: its address gets no mail',
    }),
  })
  .meta({ id: 'AddedUnsubscribeGroupMember', description: 'A contact after the request' });

export const membersOutput = cursorPageOf(memberOutput);

export const addedOutput = z.object({
  items: z.array(addedMemberOutput).describe('Contacts of the request'),
});

export const removedOutput = z.object({
  removed: z.number().meta({ description: 'Contacts that were members' }),
});

export type ListMembers = z.output<typeof listMembersQuery>;
export type Member = z.output<typeof memberOutput>;
export type AddedMember = z.output<typeof addedMemberOutput>;
export type AddResult = (typeof addResults)[number];
export type ListPlace = z.output<typeof leaveListInput>;
