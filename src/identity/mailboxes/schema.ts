// Input and output schemas of mailboxes, their addresses and namespaces (specification 2.5, 4.4).
import { z } from 'zod';
import { domainName, emailAddress, headerText } from '../../core/api/address-schema.ts';
import { storedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, idPath } from '../../core/api/resource-schema.ts';
import { listLogQuery } from '../../history/events/schema.ts';
import { parseAddress } from '../../platform/net/address.ts';
import { idPrefixes } from '../../platform/runtime/ids.ts';

export const mailboxNoun = noun('mailbox', idPrefixes.mailbox);

const longestName = 200;
const longestDescription = 1_000;
const mostMetadata = 50;
const mostFilterEntries = 1_000;
/** Largest size of a mailbox's filters as JSON, bounded because a page of mailboxes shows them. */
const mostFilterBytes = 65_536;

export const mailboxPath = idPath('mailbox', 'a mailbox');

const mailboxId = idOf('mailbox', 'is not a mailbox id');
const namespaceId = idOf('mailboxNamespace', 'is not a namespace id');

export const addressPath = z.strictObject({
  id: mailboxId,
  addressId: idOf('mailboxAddress', 'is not an id of an address'),
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
  .strictObject({ allow: filterList.default([]), block: filterList.default([]) })
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
    metadata: metadata.nullish(),
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
    metadata: metadata.nullable().optional(),
    filters: filtersInput.optional(),
    defaultFrom: z
      .strictObject({ address: emailAddress, displayName: displayName.nullish() })
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
  id: z.string(),
  address: z.string(),
  source: z.enum(['serviceHosted', 'customDomain']),
  domainId: z.string().nullable(),
  displayName: z.string().nullable(),
});

const mailboxFilters = z.object({ allow: z.array(z.string()), block: z.array(z.string()) });

export const mailboxOutput = z
  .object({
    id: z.string(),
    namespaceId: z.string(),
    slug: z.string(),
    displayName: z.string().nullable(),
    status: z.enum(['active', 'paused', 'deleted']),
    primaryAddress: z.string(),
    createdAt: z.string(),
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    addresses: z.array(mailboxAddress),
    defaultFrom: z.object({ address: z.string(), displayName: z.string().nullable() }),
    filters: mailboxFilters,
    updatedAt: z.string(),
  })
  .meta({ id: 'Mailbox', description: 'An address that receives mail' });

export const listNamespacesQuery = z.strictObject(pageQuery);

export const createNamespaceInput = z
  .strictObject({ name: headerText(100).min(1) })
  .meta({ examples: [{ name: 'Agents' }] });

export const namespaceOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'MailboxNamespace', description: 'A group of mailboxes' });

const domainId = idOf('domain', 'is not a domain id');

export const enableCatchAllInput = z.strictObject({ domainId, mailboxId }).meta({
  examples: [
    { domainId: 'dom_06dq2k0qz8h3v5m1r9t4w7xy', mailboxId: 'mbx_06dq2k0qz8h3v5m1r9t4w7xy' },
  ],
});

export const disableCatchAllInput = z
  .strictObject({ domainId })
  .meta({ examples: [{ domainId: 'dom_06dq2k0qz8h3v5m1r9t4w7xy' }] });

export const catchAllOutput = z.object({ success: z.boolean() });

/** Event data of mail in a mailbox. */
export const mailboxMessageData = z
  .object({
    mailboxId: z.string(),
    threadId: z.string().nullable(),
    message: z.looseObject({ id: z.string(), subject: z.string().nullable() }),
  })
  .meta({ id: 'MailboxMessage', description: 'A message in a mailbox' });

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
