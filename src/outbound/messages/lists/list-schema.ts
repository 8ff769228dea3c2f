// The query of the list of messages (specification 4.1).
import { z } from 'zod';
import { emailAddress } from '../../../core/api/address-schema.ts';
import { pageQuery } from '../../../core/api/pagination.ts';
import { idOf, instant as isoInstant, timeRange } from '../../../core/api/resource-schema.ts';
import { contactNoun } from '../../../people/contacts/schema.ts';
import { conversationNoun } from '../../../people/conversations/schema.ts';
import { messageStatus } from '../schema.ts';
import { subjectCharacters } from './search-limits.ts';

const dayMs = 86_400_000;
const mostPairs = 5;
const longestPair = 2_101;

const metadataPair = z
  .string()
  .max(longestPair)
  .refine((text) => text.indexOf('=') > 0, 'must be NAME=VALUE');

/**
 * Returns the schema of a date or time in a query (ISO 8601). It gives ms since 1970: a bare date
 * means the first or last millisecond of the day.
 */
function instant(edge: 'first' | 'last') {
  return z
    .union([isoInstant, z.iso.date()], 'must be an ISO 8601 date or time')
    .transform((text) => {
      const isDate = !text.includes('T');
      return Date.parse(text) + (isDate && edge === 'last' ? dayMs - 1 : 0);
    });
}

export const listMessagesQuery = z
  .strictObject({
    ...pageQuery,
    channel: z.literal('email').optional().describe('Only this channel'),
    direction: z
      .enum(['outbound', 'inbound'])
      .optional()
      .meta({ description: 'Only this direction' }),
    status: messageStatus.optional().meta({ description: 'Only this status' }),
    conversationId: idOf(conversationNoun, 'is not a conversation id')
      .optional()
      .meta({ description: 'Only messages of this conversation' }),
    contactId: idOf(contactNoun, 'is not a contact id')
      .optional()
      .meta({ description: 'Only messages of this contact' }),
    startDate: instant('first')
      .optional()
      .meta({ description: 'Only messages created at or after this time, ISO 8601' }),
    endDate: instant('last').optional().meta({
      description: 'Only messages created at or before this time; a bare date includes that day',
    }),
    ...timeRange('messages created'),
    recipient: emailAddress
      .optional()
      .meta({ description: 'Only messages with this address in `to`, `cc` or `bcc`' }),
    sender: emailAddress.optional().meta({ description: 'Only messages from this address' }),
    subject: z
      .string()
      .min(1)
      .max(subjectCharacters)
      .optional()
      .meta({ description: 'Only messages with a subject that begins so, in any case of letters' }),
    tag: z.string().min(1).max(100).optional().meta({ description: 'Only messages with this tag' }),
    campaignRunId: idOf({ prefix: 'run' }, 'is not a run id')
      .optional()
      .meta({ description: 'Only messages of this run of a campaign' }),
    templateId: idOf('template', 'is not a template id')
      .optional()
      .meta({ description: 'Only messages that this template filled' }),
    metadata: z
      .union([
        metadataPair.transform((pair) => [pair]),
        z.array(metadataPair).min(1).max(mostPairs),
      ])
      .optional()
      .meta({
        description:
          'Only messages with this metadata, as `NAME=VALUE`; `metadata.NAME=VALUE` says the same. ' +
          'A key that the organization does not declare needs a further filter or a time range',
      }),
  })
  .meta({ id: 'ListMessagesQuery' });
export type ListMessagesQuery = z.output<typeof listMessagesQuery>;
