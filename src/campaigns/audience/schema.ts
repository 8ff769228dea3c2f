// The audience of a campaign: the contacts that it includes, without contacts with an excluded tag.
import { z } from 'zod';
import { idOf } from '../../core/api/resource-schema.ts';
import type { ContactQuery } from '../../people/contacts/groups/query-schema.ts';
import { contactGroupNoun } from '../../people/contacts/groups/schema.ts';
import { contactNoun, contactTag } from '../../people/contacts/schema.ts';

const mostContacts = 10_000;
const mostTags = 100;
const mostGroups = 100;

const tags = z.array(contactTag).max(mostTags).default([]);

export const audienceInput = z
  .strictObject({
    includeTags: tags.meta({ description: 'Contacts with any of these tags, at most 100' }),
    excludeTags: tags.meta({ description: 'None of the contacts with any of these tags' }),
    contactIds: z
      .array(idOf(contactNoun, 'is not a contact id'))
      .max(mostContacts)
      .default([])
      .meta({ description: 'These contacts too, at most 10,000' }),
    groupIds: z
      .array(idOf(contactGroupNoun, 'is not a contact group id'))
      .max(mostGroups)
      .default([])
      .meta({ description: 'The members of these groups of contacts too, at most 100' }),
  })
  .meta({ examples: [{ includeTags: ['customer'], excludeTags: ['vip'] }] });

export type Audience = z.output<typeof audienceInput>;

/**
 * The audience of a run, with the queries of the groups at the time of the request. Groups with
 * stored members are read when a contact is judged.
 */
export interface AudienceSnapshot extends Audience {
  /** Queries of the groups that have a query in place of stored members. */
  queries: ContactQuery[];
  /**
   * Start of the run, or before it the time of the request, ms since 1970. Queries count days back
   * from it.
   */
  at: number;
}
