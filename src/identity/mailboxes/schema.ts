// Input and output schemas of mailboxes, their addresses and namespaces (specification 2.5, 4.4).
import { z } from 'zod';
import { domainName, emailAddress, headerText } from '../../core/api/address-schema.ts';
import { storedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, idPath, timeRange } from '../../core/api/resource-schema.ts';
import { listLogQuery } from '../../history/events/schema.ts';
import { parseAddress } from '../../platform/net/address.ts';
import { idPrefixes } from '../../platform/runtime/ids.ts';

export const mailboxNoun = noun('mailbox', idPrefixes.mailbox);

const longestName = 200;
const longestDescription = 1_000;
const mostMetadata = 50;
const mostFilterEntries = 1_000;
/** Most bytes of a mailbox's filters as JSON, bounded because a page of mailboxes shows them. */
const mostFilterBytes = 65_536;

export const mailboxPath = idPath('mailbox', 'a mailbox');

const mailboxId = idOf('mailbox', 'is not a mailbox id');
const namespaceId = idOf('mailboxNamespace', 'is not a namespace id');

export const addressPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  addressId: idOf('mailboxAddress', 'is not an id of an address').describe('Id of the address'),
});

const slugText = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
    'must be 1 to 64 lower-case letters, digits and hyphens, no hyphen at an end',
  );

const displayName = headerText(longestName)
  .min(1)
  .meta({ description: 'Display name of the address' });
const description = z
  .string()
  .max(longestDescription)
  .meta({ description: 'Description of the mailbox' });

const metadata = storedMap(
  z.record(z.string().min(1).max(100), z.string().max(2_000)),
  mostMetadata,
);

/** An address or a domain, in the form of src/platform/net/address.ts. */
const filterEntry = z
  .string()
  .max(320)
  .transform((text, context) => {
    const read = text.includes('@')
      ? parseAddress(text)?.email
      : parseAddress(`postmaster@${text}`)?.domain;
    if (read !== undefined) return read;
    context.addIssue({ code: 'custom', message: 'is neither an address nor a domain' });
    return z.NEVER;
  });

const filterList = z.array(filterEntry).max(mostFilterEntries);

const filtersInput = z
  .strictObject({
    allow: filterList
      .default([])
      .describe('Wanted addresses and domains; empty: all senders are wanted'),
    block: filterList.default([]).describe('Unwanted addresses and domains'),
  })
  .refine((filters) => Buffer.byteLength(JSON.stringify(filters)) <= mostFilterBytes, {
    message: 'is longer than 64 KB of JSON',
  })
  .meta({
    description:
      'Addresses and domains, a domain also for its subdomains: `block` lists unwanted ' +
      'senders; if `allow` has an entry, only its senders are wanted. Mail from all others ' +
      'goes to `spam`. Replaced whole',
  });

export const listMailboxesQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('mailboxes created'),
  status: z.enum(['active', 'paused']).optional().meta({ description: 'Only this status' }),
  namespaceId: namespaceId.optional().meta({ description: 'Only mailboxes of this namespace' }),
});

export const createMailboxInput = z
  .strictObject({
    slug: slugText.meta({
      description: 'Slug of the mailbox: lower-case letters, digits and hyphens',
    }),
    domain: domainName.optional().meta({
      description: 'Verified domain; the address is `slug@domain`',
    }),
    address: emailAddress.optional().meta({
      description: 'Address, if it is not `slug` at `domain` or at the hosted domain',
    }),
    displayName: displayName.nullish(),
    description: description.nullish(),
    metadata: metadata.nullish().describe('Texts of your own by name, at most 50'),
    namespaceId: namespaceId.nullish().meta({ description: 'Namespace of the mailbox' }),
    filters: filtersInput.nullish(),
  })
  .refine(({ domain, address }) => domain === undefined || address === undefined, {
    path: ['domain'],
    message: 'give either domain or address',
  })
  .meta({ examples: [{ slug: 'support', displayName: 'Support' }] });

export const updateMailboxInput = z
  .strictObject({
    displayName: displayName.nullable().optional(),
    description: description.nullable().optional(),
    metadata: metadata
      .nullable()
      .optional()
      .describe('Texts of your own by name, at most 50; an update replaces them whole'),
    filters: filtersInput.optional(),
    defaultFrom: z
      .strictObject({
        address: emailAddress.describe('Address for the From of mail from this mailbox'),
        displayName: displayName.nullish(),
      })
      .nullable()
      .optional()
      .meta({
        description: 'One of its addresses, or a verified sender; null: its primary address',
      }),
  })
  .meta({ examples: [{ displayName: 'Support', filters: { block: ['spam.example'] } }] });

export const addAddressInput = z
  .strictObject({
    address: emailAddress.meta({
      description: 'Address on a verified domain, or on the hosted one',
    }),
    displayName: displayName.nullish(),
  })
  .meta({ examples: [{ address: 'help@sandbox.test' }] });

export const mailboxEventsQuery = listLogQuery.omit({ subject: true });

const mailboxAddress = z.object({
  id: z.string().describe('Id of the address'),
  address: z.string().describe('Email address'),
  source: z
    .enum(['serviceHosted', 'customDomain'])
    .describe('serviceHosted: on the domain of the service; customDomain: on a verified domain'),
  domainId: z.string().nullable().describe('Verified domain; null for the domain of the service'),
  displayName: z.string().nullable().describe('Display name; null without one'),
});

const mailboxFilters = z.object({
  allow: z
    .array(z.string())
    .describe('Wanted addresses and domains; empty: all senders are wanted'),
  block: z.array(z.string()).describe('Unwanted addresses and domains'),
});

export const mailboxOutput = z
  .object({
    id: z.string().describe('Id of the mailbox'),
    namespaceId: z.string().describe('Namespace of the mailbox'),
    slug: z.string().describe('Slug, the usual local part of the address'),
    displayName: z.string().nullable().describe('Display name of the address; null without one'),
    status: z
      .enum(['active', 'paused', 'deleted'])
      .describe('State of the mailbox; a paused mailbox neither sends nor receives'),
    primaryAddress: z.string().describe('First address of the mailbox'),
    createdAt: z.string().describe('Time of creation'),
    description: z.string().nullable().describe('Description of the mailbox; null without one'),
    metadata: z.record(z.string(), z.string()).describe('Texts of your own by name'),
    addresses: z.array(mailboxAddress).describe('All addresses of the mailbox'),
    defaultFrom: z
      .object({
        address: z.string().describe('Address of the From field'),
        displayName: z.string().nullable().describe('Display name; null without one'),
      })
      .describe('From of mail from this mailbox'),
    filters: mailboxFilters.describe('Filters of senders; unwanted mail goes to `spam`'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Mailbox', description: 'An address that receives mail' });

export const listNamespacesQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('namespaces created'),
});

export const createNamespaceInput = z
  .strictObject({ name: headerText(100).min(1).describe('Name of the namespace') })
  .meta({ examples: [{ name: 'Agents' }] });

export const namespaceOutput = z
  .object({
    id: z.string().describe('Id of the namespace'),
    organizationId: z.string().describe('Organization of the namespace'),
    name: z.string().describe('Name of the namespace'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'MailboxNamespace', description: 'A group of mailboxes' });

const domainId = idOf('domain', 'is not a domain id');

export const enableCatchAllInput = z
  .strictObject({
    domainId: domainId.describe('Verified domain whose unknown addresses get mail'),
    mailboxId: mailboxId.describe('Mailbox that gets this mail'),
  })
  .meta({
    examples: [
      { domainId: 'dom_06dq2k0qz8h3v5m1r9t4w7xy', mailboxId: 'mbx_06dq2k0qz8h3v5m1r9t4w7xy' },
    ],
  });

export const disableCatchAllInput = z
  .strictObject({ domainId: domainId.describe('Domain whose unknown addresses get no more mail') })
  .meta({ examples: [{ domainId: 'dom_06dq2k0qz8h3v5m1r9t4w7xy' }] });

export const catchAllOutput = z.object({
  success: z.boolean().describe('True: the change is done'),
});

/** Event data of mail in a mailbox. */
export const mailboxMessageData = z
  .object({
    mailboxId: z.string().describe('Mailbox of the message'),
    threadId: z.string().nullable().describe('Thread of the message; null without one'),
    message: z
      .looseObject({
        id: z.string().describe('Id of the message'),
        subject: z.string().nullable().describe('Subject line; null without one'),
      })
      .describe('The message'),
  })
  .meta({ id: 'MailboxMessage', description: 'A message in a mailbox' });

const verdict = (of: string) =>
  z.string().nullable().describe(`Verdict of ${of}: pass, fail …; null if it was not checked`);

/** Received mail in the form that webhooks post. */
const receivedEmail = z.object({
  text: z
    .string()
    .nullable()
    .meta({ description: 'Plain text of the mail with its quotes, at most 64 KB' }),
  textTruncated: z
    .boolean()
    .meta({ description: '`GET /v1/messages/{id}/email` has the whole text' }),
  spfVerdict: verdict('SPF'),
  dkimVerdict: verdict('DKIM'),
  dmarcVerdict: verdict('DMARC'),
  arcVerdict: verdict('ARC'),
  attachments: z
    .array(
      z.object({
        n: z.int().describe('Its number, from 1, in the path of attachments'),
        filename: z.string().nullable().describe('Name of the file'),
        contentType: z.string().describe('Media type of the file'),
        size: z.int().describe('Bytes of the file'),
      }),
    )
    .describe('Attached files, without their bytes'),
});
export type ReceivedEmail = z.output<typeof receivedEmail>;

/** Event data of mail that a mailbox received. */
export const receivedMessageData = mailboxMessageData
  .extend({
    email: receivedEmail.optional().meta({
      description:
        'The mail, read when it is first posted. Only in posts of webhooks, and absent once the ' +
        'message is deleted',
    }),
  })
  .meta({ id: 'ReceivedMailboxMessage', description: 'A message that a mailbox received' });

export type MailboxFilters = z.output<typeof mailboxFilters>;
export type ListMailboxes = z.output<typeof listMailboxesQuery>;
export type CreateMailbox = z.input<typeof createMailboxInput>;
export type UpdateMailbox = z.output<typeof updateMailboxInput>;
export type AddAddress = z.output<typeof addAddressInput>;
export type MailboxEvents = z.output<typeof mailboxEventsQuery>;
export type Mailbox = z.output<typeof mailboxOutput>;
export type Namespace = z.output<typeof namespaceOutput>;
export type CreateNamespace = z.output<typeof createNamespaceInput>;
export type EnableCatchAll = z.output<typeof enableCatchAllInput>;
export type DisableCatchAll = z.output<typeof disableCatchAllInput>;
