// Shapes of groups of contacts, in and out.

import { z } from 'zod';
import { headerText } from '../../../core/api/address-schema.ts';
import { computed, fieldTable, json, optionalText, text } from '../../../core/api/field-table.ts';
import { noun } from '../../../core/api/noun.ts';
import { pageQuery } from '../../../core/api/pagination.ts';
import { idOf, timeRange } from '../../../core/api/resource-schema.ts';
import { contactNoun } from '../schema.ts';
import { contactQuery, contactQueryOutput } from './query-schema.ts';

export const contactGroupNoun = noun('contact-group', 'grp');

const mostMembers = 10_000;

export const contactGroupFields = fieldTable({
  name: text(headerText(100).min(1).meta({ description: 'Name of the group' })),
  description: optionalText(headerText(500).meta({ description: 'Description of its members' })),
  query: json({
    shown: contactQueryOutput
      .nullable()
      .meta({ description: 'Conditions of its members; null for members by hand' }),
    create: contactQuery
      .optional()
      .meta({ description: 'Conditions that make a contact a member; without them, add members' }),
    update: contactQuery.optional().meta({ description: 'Conditions of a group by query' }),
  }),
  memberCount: computed(
    z.number().nullable().meta({
      description: 'Null for a group by query in lists, or if counting takes too long',
    }),
  ),
});

/** Query of a page of members. It has no time range: the store keeps no time of joining a group. */
export const listGroupMembersQuery = z.strictObject({ ...pageQuery });

export const listContactGroupsQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('groups created'),
});

export const createContactGroupInput = z.strictObject(contactGroupFields.create).meta({
  examples: [
    { name: 'Beta testers', description: 'First testers of new features' },
    {
      name: 'Active customers in Paris',
      query: {
        all: [
          { tag: 'customer' },
          { status: 'active' },
          { field: 'profile.location.city', is: 'Paris' },
        ],
      },
    },
  ],
});

export const updateContactGroupInput = z
  .strictObject(contactGroupFields.update)
  .meta({ examples: [{ name: 'Testers' }] });

const contactId = idOf(contactNoun, 'is not a contact id');

export const membersInput = z
  .strictObject({
    contactIds: z
      .array(contactId)
      .min(1)
      .max(mostMembers, `must be at most ${mostMembers} at a time`)
      .meta({ description: 'Ids of contacts, at most 10,000' }),
  })
  .meta({ examples: [{ contactIds: ['contact_06dq2k0qz8h3v5m1r9t4w7xy'] }] });

export const contactGroupOutput = z
  .object(contactGroupFields.output)
  .meta({ id: 'ContactGroup', description: 'Contacts that belong together' });

export type ListContactGroups = z.output<typeof listContactGroupsQuery>;
export type CreateContactGroup = z.output<typeof createContactGroupInput>;
export type UpdateContactGroup = z.output<typeof updateContactGroupInput>;
export type ContactGroup = z.output<typeof contactGroupOutput>;
