// Shapes of contacts, in and out (specification 2.6, 4.5).
import { z } from 'zod';
import { emailAddress, headerText } from '../../core/api/address-schema.ts';
import { storedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPath, instant, queryFlag, timeRange } from '../../core/api/resource-schema.ts';
import { encodings } from '../../platform/csv/decode.ts';

export const contactNoun = noun('contact', 'contact');

export const mostTags = 100;
const mostIdentities = 20;
export const mostFields = 50;
export const longestField = 2_000;

export const contactStatuses = [
  'active',
  'unsubscribed',
  'bounced',
  'complained',
  'archived',
] as const;

export const contactPath = idPath(contactNoun, 'a contact');

const line = headerText(200).min(1);

/** Syntax of a tag. It has no comma, because a comma separates two tags in CSV. */
export const contactTag = z
  .string()
  .max(100)
  .regex(
    /^[^\s,\p{Cc}](?:[^,\p{Cc}]*[^\s,\p{Cc}])?$/u,
    'must have no comma, no control character and no space at its ends',
  );

const tags = z.array(contactTag).max(mostTags);

const text = z.string().nullable();

const externalId = headerText(200).min(1);

const identities = z
  .array(
    z.strictObject({
      channel: z.literal('email').describe('Always `email`'),
      identifier: emailAddress.describe('Email address'),
    }),
  )
  .max(mostIdentities);

const profileInput = z.strictObject({
  firstName: line.nullish().describe('Given name'),
  lastName: line.nullish().describe('Family name'),
  company: line.nullish().describe('Employer of the contact'),
  jobTitle: line.nullish().describe('Position in the company'),
  location: z
    .strictObject({
      country: line.nullish().describe('Country of the contact'),
      state: line.nullish().describe('State or province of the contact'),
      city: line.nullish().describe('Town of the contact'),
      timezone: line.nullish().describe('Time zone (IANA), such as Europe/Paris'),
    })
    .nullish()
    .describe('Place of the contact'),
  customFields: storedMap(
    z.record(z.string().min(1).max(100), z.string().max(longestField)),
    mostFields,
  )
    .nullish()
    .describe('Texts of your own by name, at most 50'),
  source: line.nullish().describe('Origin of the contact, such as a form'),
});

const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00');

const preferencesInput = z.strictObject({
  preferredChannels: z
    .array(z.literal('email'))
    .max(1)
    .nullish()
    .describe('Channels, the preferred one first'),
  language: line.nullish().describe('Language, such as en'),
  timezone: line.nullish().describe('Time zone of the quiet hours (IANA)'),
  notifications: z
    .strictObject({
      email: z.boolean().nullish().describe('Whether the contact wants campaigns by email'),
      quiet_hours: z
        .strictObject({
          start: timeOfDay.describe('Begin, such as 22:00'),
          end: timeOfDay.describe('End, such as 07:00'),
        })
        .nullish()
        .describe('Hours without campaigns'),
    })
    .nullish()
    .describe('Wanted notifications'),
});

const metadata = storedMap(
  z.record(
    z.string().min(1).max(100),
    z.union([z.string().max(longestField), z.number(), z.boolean(), z.null()]),
  ),
  mostFields,
);

const fields = {
  email: emailAddress
    .optional()
    .meta({ description: 'Address of the contact: short for one identity' }),
  identities: identities.optional().meta({ description: 'All addresses; the first gets the mail' }),
  name: line.nullable().optional().meta({ description: 'Name of the contact' }),
  displayName: line.nullable().optional().meta({ description: 'Name to show for the contact' }),
  avatar: z
    .url({ protocol: /^https?$/ })
    .max(longestField)
    .nullable()
    .optional()
    .meta({ description: 'URL of a picture' }),
  status: z
    .enum(['active', 'archived'])
    .optional()
    .meta({ description: 'Set to archived, or back to active' }),
  externalId: externalId
    .nullable()
    .optional()
    .meta({ description: 'Your own id of the contact, unique in the organization' }),
  profile: profileInput
    .nullable()
    .optional()
    .describe('Facts about the contact; an update replaces them whole'),
  preferences: preferencesInput
    .nullable()
    .optional()
    .describe('Wishes of the contact; an update replaces them whole'),
  tags: tags.optional().meta({ description: 'Tags of the contact' }),
  metadata: metadata
    .optional()
    .describe('Values of your own by name, at most 50; an update replaces them whole'),
};

const bothSay = 'repeats email: give one of them';

export const createContactInput = z
  .strictObject(fields)
  .superRefine(({ email, identities }, context) => {
    if (email === undefined && identities === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['email'],
        message: 'email or identities is required',
      });
    }
    if (email !== undefined && identities !== undefined) {
      context.addIssue({ code: 'custom', path: ['identities'], message: bothSay });
    }
  })
  .meta({ examples: [{ email: 'ada@example.com', name: 'Ada', tags: ['customer'] }] });

export const updateContactInput = z
  .strictObject(fields)
  .refine((input) => input.email === undefined || input.identities === undefined, {
    path: ['identities'],
    message: bothSay,
  })
  .meta({ examples: [{ name: 'Ada Lovelace', status: 'archived' }] });

/** A row of an import. Missing fields stay unchanged. */
export const importedContact = z
  .strictObject({
    emails: z.array(emailAddress).max(mostIdentities),
    name: line.optional(),
    displayName: line.optional(),
    avatar: fields.avatar,
    externalId: externalId.optional(),
    profile: profileInput.optional(),
    preferences: preferencesInput.optional(),
    tags: tags.optional(),
    metadata: metadata.optional(),
  })
  .refine(({ emails, externalId }) => emails.length > 0 || externalId !== undefined, {
    path: ['email'],
    message: 'email or externalId is required',
  });

const columnUse = z.string().max(300);

export const importQuery = z.strictObject({
  dryRun: queryFlag.optional().meta({ description: 'Count the changes without applying them' }),
  map: z
    .union([columnUse, z.array(columnUse).max(500)])
    .transform((entries) => [entries].flat())
    .optional()
    .meta({
      description: 'Field for a column, as COLUMN=FIELD; several times for several columns',
    }),
  requireConfirmation: z
    .string()
    .max(40)
    .optional()
    .meta({
      description:
        'Id of a double opt-in group: each contact of the file that can get mail is asked to ' +
        'confirm it, unless it was asked before',
    }),
});

export const exportQuery = z.strictObject({
  format: z.enum(['csv', 'ndjson']).default('csv').describe('Format of the file'),
});

const counted = {
  created: z.number().describe('Contacts that were created'),
  updated: z.number().describe('Contacts that were changed'),
  unchanged: z.number().describe('Contacts that had these values already'),
  rejected: z.number().describe('Rows that were refused'),
};

export const importCounts = z
  .object({
    id: z.string().meta({ description: 'Id of its entry in the audit' }),
    format: z.string().describe('Format of the file'),
    ...counted,
    pending: z
      .number()
      .optional()
      .meta({ description: 'Contacts that now wait for a confirmation' }),
  })
  .meta({ id: 'ContactImport', description: 'Changes made by an import' });

export const importOutput = z
  .object({
    format: z.string().meta({ description: 'Format that the header shows' }),
    encoding: z.enum(encodings).meta({ description: 'Encoding of the file' }),
    map: z
      .record(z.string(), z.string())
      .meta({ description: 'Field that each column fills; `custom` is a custom field' }),
    dryRun: z.boolean().describe('Whether nothing was changed'),
    ...counted,
    pending: z.number().optional().meta({
      description: 'Contacts that now wait for a confirmation; with `requireConfirmation` only',
    }),
    rows: z
      .array(
        z.object({
          row: z.number().describe('Number of the data row, from 1'),
          line: z.number().describe('Number of the line in the file'),
          field: text.describe('Field at fault; null for the whole row'),
          reason: z.string().describe('Reason of the refusal'),
        }),
      )
      .meta({
        description:
          'Rejected rows, the first 1,000; `line` is in the file, `row` counts data rows from 1',
      }),
  })
  .meta({ id: 'ContactImportReport', description: 'Result of an import, or of a preview' });

export const tagsInput = z
  .strictObject({
    tags: z
      .array(contactTag)
      .min(1)
      .max(mostTags)
      .meta({ description: 'Tags to add or to remove' }),
  })
  .meta({ examples: [{ tags: ['customer'] }] });

export const listContactsQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('contacts created'),
  tag: contactTag.optional().meta({ description: 'Only contacts with this tag' }),
  email: emailAddress
    .optional()
    .meta({ description: 'Only contacts with this address, in any case of letters' }),
  externalId: externalId
    .optional()
    .meta({ description: 'Only the contact with this id of your own' }),
  status: z.enum(contactStatuses).optional().meta({ description: 'Only this status' }),
  q: z
    .string()
    .trim()
    .min(2)
    .max(100)
    .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit')
    .optional()
    .meta({
      description:
        'Only contacts with a name or first address that begins so; of frequent words, among the ' +
        'newest 5,000',
    }),
  updatedSince: instant.optional().meta({ description: 'Only contacts changed from this time on' }),
});

export const contactOutput = z
  .object({
    id: z.string().describe('Id of the contact'),
    name: text.describe('Name of the contact; null without one'),
    displayName: text.describe('Name to show; null without one'),
    avatar: text.describe('URL of a picture; null without one'),
    status: z.enum(contactStatuses).meta({
      description:
        '`bounced`, `complained` and `unsubscribed` follow from the block of the first email',
    }),
    statusReason: text.describe('Reason of the status; null without one'),
    externalId: text.describe('Your own id of the contact; null without one'),
    identities: z
      .array(
        z.object({
          id: z.string().describe('Id of the address'),
          channel: z.literal('email').describe('Always `email`'),
          identifier: z.string().describe('Email address'),
          verified: z.boolean().meta({ description: 'Proven by mail from that address' }),
        }),
      )
      .describe('Addresses; the first gets the mail'),
    profile: z
      .object({
        firstName: text.describe('Given name'),
        lastName: text.describe('Family name'),
        company: text.describe('Employer of the contact'),
        jobTitle: text.describe('Position in the company'),
        location: z
          .object({
            country: text.describe('Country of the contact'),
            state: text.describe('State or province of the contact'),
            city: text.describe('Town of the contact'),
            timezone: text.describe('Time zone (IANA)'),
          })
          .describe('Place of the contact'),
        customFields: z.record(z.string(), z.string()).describe('Texts of your own by name'),
        source: text.describe('Origin of the contact'),
      })
      .describe('Facts about the contact'),
    preferences: z
      .object({
        preferredChannels: z.array(z.string()).describe('Channels, the preferred one first'),
        language: text.describe('Language; null if unknown'),
        timezone: text.describe('Time zone of the quiet hours (IANA); null if unknown'),
        notifications: z
          .object({
            email: z.boolean().describe('Whether the contact wants campaigns by email'),
            quiet_hours: z
              .object({
                start: z.string().describe('Begin, such as 22:00'),
                end: z.string().describe('End, such as 07:00'),
              })
              .nullable()
              .describe('Hours without campaigns; null without any'),
          })
          .describe('Wanted notifications'),
      })
      .describe('Wishes of the contact'),
    tags: z.array(z.string()).describe('Tags of the contact'),
    metadata: z.record(z.string(), z.unknown()).describe('Values of your own by name'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Contact', description: 'A person who gets mail' });

export const listTagsQuery = z.strictObject(pageQuery);

export const contactTagOutput = z
  .object({
    tag: z.string().describe('The tag, as the oldest contact with it writes it'),
    contacts: z.number().describe('Number of contacts with the tag, in any case of letters'),
  })
  .meta({ id: 'ContactTag', description: 'A tag that contacts have' });

export type ContactTag = z.output<typeof contactTagOutput>;
export type ContactStatus = (typeof contactStatuses)[number];
export type ProfileInput = z.output<typeof profileInput>;
export type PreferencesInput = z.output<typeof preferencesInput>;
export type CreateContact = z.output<typeof createContactInput>;
export type UpdateContact = z.output<typeof updateContactInput>;
export type ListContacts = z.output<typeof listContactsQuery>;
export type ImportedContact = z.output<typeof importedContact>;
export type ImportQuery = z.output<typeof importQuery>;
export type ImportReport = z.output<typeof importOutput>;
export type ExportContacts = z.output<typeof exportQuery>;
export type Contact = z.output<typeof contactOutput>;
