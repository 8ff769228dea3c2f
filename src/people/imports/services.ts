// The table of foreign exports: service → column → meaning. `serviceColumns` has the columns that
// mean the same in every file, `serviceFiles` the files of each service with the columns that
// identify a file, the meanings in that file alone, and the meaning of a row as a block. Contacts
// and blocks are imported by this table. One rule guides blocks: a fault of an address blocks it, a
// fault of a message does not.

import { columnKey } from '../../platform/csv/read-table.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import type { BlockReason } from '../blocks/schema.ts';
import { languageColumns, reasonWords } from './words.ts';

/** Fields of a contact that a column can fill. */
export const contactFields = [
  ...['email', 'otherEmails', 'externalId', 'name', 'displayName', 'avatar', 'firstName'],
  ...['lastName', 'company', 'jobTitle', 'country', 'state', 'city', 'timezone', 'source'],
  ...['language', 'tags', 'customFields', 'metadata'],
] as const;

/** Meanings of columns of consent; consent.ts has the rule of each. */
export const consents = [
  ...(['status', 'unsubscribed', 'subscribed', 'bounced', 'complained', 'blocked'] as const),
  ...(['unsubscribedAt', 'bouncedAt', 'complainedAt', 'blockedAt'] as const),
] as const;

export type Consent = (typeof consents)[number];

/** `custom` keeps the values in a custom field with the name of the column. */
export const columnUses = [...contactFields, ...consents, 'custom', 'ignore'] as const;

export type ColumnUse = (typeof columnUses)[number];

/** Keys of columns (`columnKey`) by their meaning, separated by spaces. */
export type Columns = Readonly<Partial<Record<ColumnUse, string>>>;

/** Columns that identify themselves in every file, by language or by service. */
export const serviceColumns: Readonly<Record<string, Columns>> = {
  ...languageColumns,
  any: {
    email: 'emailaddress',
    otherEmails: 'alternateemails',
    name: 'fullname',
    country: 'cc',
    state: 'region stateprovinceregion',
    metadata: 'attributes',
    status:
      'status emailstatus subscriptionstatus subscriberstatus memberstatus ' +
      'emailsubscriptionstatus emailmarketingstatus emailpermissionstatus',
    unsubscribed:
      'unsubscribed isunsubscribed unsubscribe globalunsubscribe emailunsubscribed optout ' +
      'optedout isoptedout emailoptout emailoptedout optoutemail donotemail donotcontact ' +
      'donotsendemail donotbulkemail noemail emaildisabled',
    subscribed: 'subscribed issubscribed optin optedin emailoptin emailoptedin',
    bounced:
      'bounced hardbounced hashardbounced emailbounced emailinvalid invalidemail ' +
      'invalidemailaddress',
    complained: 'complained spamcomplaint markedasspam',
    blocked: 'suppressed issuppressed emailsuppressed blacklist blocklist',
    unsubscribedAt:
      'unsubscribedat unsubscribeddate unsubscribedate unsubscribedon unsubscribereason ' +
      'unsubscribedreason optoutreason optoutdate optouttime optoutat optedoutat optedoutdate',
    bouncedAt: 'bouncedat bounceddate hardbouncedat bouncereason bouncedreason',
    complainedAt: 'complainedat complainttime spamreportedat',
    blockedAt: 'suppressedat',
  },
  brevo: { unsubscribed: 'emailblacklisted blacklisted emailblocklisted blocklisted' },
  ghost: { subscribed: 'subscribedtoemails' },
  google: { email: 'email1value' },
  hubspot: {
    unsubscribed: 'unsubscribedfromallemail unsubscribedfromallemails portalunsubscribe',
    complained: 'portalspamreport',
    bouncedAt: 'emailhardbouncereason hardbouncereason portalbounce globalbounce',
  },
  intercom: { unsubscribed: 'unsubscribedfromemails', complained: 'markedemailasspam' },
  klaviyo: {
    status: 'emailsuppressions',
    subscribed: 'emailmarketingconsent',
    blockedAt: 'emailsuppressionstimestamp',
  },
  mailchimp: { unsubscribedAt: 'unsubtime unsubreason', bouncedAt: 'cleantime' },
  mailjet: { unsubscribed: 'isexcludedfromcampaigns' },
  pipedrive: { status: 'marketingstatus' },
  postmark: { status: 'suppressionreason' },
  salesforce: {
    unsubscribed: 'hasoptedoutofemail optedoutofemail',
    bouncedAt: 'emailbouncedreason emailbounceddate',
  },
  ses: { unsubscribed: 'unsubscribeall' },
  shopify: { subscribed: 'acceptsmarketing acceptsemailmarketing' },
};

/** Columns of lists of blocked addresses; of each list, the first column in the file counts. */
export const blockColumns = {
  address: ['email', 'address', 'emailaddress'],
  madeAt: ['createdat', 'created', 'bouncedat', 'lastupdatetime'],
} as const;

/**
 * Meaning of a row: a block, of all mail unless it names a group; no block (`skip`); or unreadable
 * (`reject`).
 */
export type Verdict =
  | { reason: BlockReason; unsubscribeGroupId?: string }
  | { skip: string }
  | { reject: string };

/** Returns the trimmed text under a column of a row, or '' if the column is missing. */
export type Field = (column: string) => string;

/** A file as a list of blocks. */
export interface BlockFormat {
  /** The value of `--format`. */
  name: string;
  title: string;
  /** Whether a file may lack a header: the columns are then address and reason. */
  mayBeBare?: true;
  judge(field: Field, fallback: BlockReason): Verdict;
}

/** A file as a list of people. */
export interface ContactFormat {
  /** Meanings in this file, stronger than those of `serviceColumns`. */
  columns?: Columns;
  /** Field with the lists of a person, each with the person's standing in that list. */
  lists?: string;
}

export interface ServiceFile {
  service: string;
  /** The columns that identify the file; all must be present. */
  has: readonly string[];
  blocks?: BlockFormat;
  contacts?: ContactFormat;
  /** Set if nobody in the file gets mail. The import of contacts refuses such a file. */
  isSuppressionList?: true;
}

function byReason(word: string, fallback?: BlockReason): Verdict {
  const reason = word === '' ? fallback : reasonWords.get(columnKey(word));
  if (reason) return { reason };
  return { reject: word === '' ? 'has no reason' : `has an unknown reason: ${word.slice(0, 60)}` };
}

const always =
  (reason: BlockReason): BlockFormat['judge'] =>
  () => ({ reason });

/**
 * Types of bounces that concern the address. Postmark also counts many other events as bounces.
 */
const postmarkBounceTypes = new Map<string, BlockReason>([
  ['hardbounce', 'bounce'],
  ['bademailaddress', 'bounce'],
  ['spamcomplaint', 'complaint'],
  ['unsubscribe', 'unsubscribe'],
  ['manuallydeactivated', 'manual'],
]);

function judgePostmarkBounce(field: Field): Verdict {
  const type = field('Type');
  const reason = postmarkBounceTypes.get(columnKey(type));
  if (field('Inactive').toLowerCase() === 'false') return { skip: 'is active again at Postmark' };
  return reason ? { reason } : { skip: `${type.slice(0, 60)} does not justify a block` };
}

/**
 * Translates a suppression. A "manual" suppression by the recipient is a click on Postmark's
 * unsubscribe link.
 */
function judgePostmarkSuppression(field: Field): Verdict {
  const word = field('SuppressionReason');
  if (columnKey(word) !== 'manualsuppression') return byReason(word);
  return { reason: columnKey(field('Origin')) === 'recipient' ? 'unsubscribe' : 'manual' };
}

/**
 * Translates a bounce. SendGrid exports bounces and blocks with the same columns. A block there was
 * temporary (4.x.x) or about policy (5.7.x): SendGrid keeps sending to that address, and so does
 * this service.
 */
function judgeSendgridBounce(field: Field): Verdict {
  const status = field('status');
  return /^(?:4\.|5\.7\.)/.test(status)
    ? { skip: `${status.slice(0, 20)} is not caused by the address` }
    : { reason: 'bounce' };
}

function judgeMailgunUnsubscribe(field: Field): Verdict {
  const tags = field('tags').replace(/^\[|\]$|["']/g, '');
  return tags === '' || tags === '*'
    ? { reason: 'unsubscribe' }
    : { skip: `gets all mail except mail with the tag ${tags.slice(0, 60)}` };
}

function judgeListmonkBounce(field: Field): Verdict {
  const type = field('type');
  if (type === 'soft') return { skip: 'is not caused by the address' };
  return byReason(type === 'hard' ? 'bounce' : type);
}

function judgeResendContact(field: Field): Verdict {
  const hasLeft = field('unsubscribed').toLowerCase() === 'true';
  return hasLeft ? { reason: 'unsubscribe' } : { skip: 'has not unsubscribed' };
}

const groupIds = idPattern('unsubscribeGroup');

/** Translates a row of our own export. Accepts deleted groups too: their blocks stay in force. */
function judgeOwn(field: Field): Verdict {
  const verdict = byReason(field('reason'));
  const unsubscribeGroupId = field('unsubscribeGroupId');
  if (unsubscribeGroupId === '' || !('reason' in verdict)) return verdict;
  return groupIds.test(unsubscribeGroupId)
    ? { ...verdict, unsubscribeGroupId }
    : { reject: `names an unknown unsubscribe group: ${unsubscribeGroupId.slice(0, 60)}` };
}

/** Any list of people, or of addresses. */
export const plainFile = {
  service: 'plain',
  has: [],
  contacts: {},
  blocks: {
    name: 'plain',
    title: 'List of addresses',
    mayBeBare: true,
    judge: (field, fallback) => byReason(field('reason'), fallback),
  },
} as const satisfies ServiceFile;

const sendgrid = (
  name: string,
  title: string,
  has: readonly string[],
  judge: BlockFormat['judge'],
): ServiceFile => ({
  service: 'sendgrid',
  has,
  blocks: { name: `sendgrid-${name}`, title: `SendGrid ${title}`, judge },
  ...(!has.includes('status') && { isSuppressionList: true }),
});

/** The known files. The first match wins, so files with more columns stand first. */
export const serviceFiles: readonly ServiceFile[] = [
  {
    service: 'svc',
    has: ['address', 'reason', 'unsubscribeGroupId'],
    blocks: { name: 'svc', title: 'Export of svc', judge: judgeOwn },
  },
  {
    service: 'svc',
    has: ['id', 'email', 'externalId', 'statusReason'],
    contacts: { columns: { ignore: 'id createdat updatedat' } },
  },
  { service: 'svc', has: ['id', 'identities'], contacts: {} },
  sendgrid(
    'bounces',
    'bounces or blocks',
    ['email', 'status', 'reason', 'created'],
    judgeSendgridBounce,
  ),
  sendgrid('invalid-emails', 'invalid emails', ['email', 'reason', 'created'], (field) => ({
    reason: reasonWords.get(columnKey(field('reason'))) ?? 'bounce',
  })),
  sendgrid('spam-reports', 'spam reports', ['email', 'ip', 'created'], always('complaint')),
  sendgrid('unsubscribes', 'unsubscribes', ['email', 'created'], always('unsubscribe')),
  {
    service: 'postmark',
    has: ['EmailAddress', 'SuppressionReason'],
    blocks: {
      name: 'postmark-suppressions',
      title: 'Postmark suppressions',
      judge: judgePostmarkSuppression,
    },
  },
  {
    service: 'postmark',
    has: ['Email', 'Type', 'BouncedAt'],
    blocks: { name: 'postmark-bounces', title: 'Postmark bounces', judge: judgePostmarkBounce },
  },
  {
    service: 'mailgun',
    has: ['address', 'code', 'error'],
    blocks: { name: 'mailgun-bounces', title: 'Mailgun bounces', judge: always('bounce') },
  },
  {
    service: 'mailgun',
    has: ['address', 'tags'],
    blocks: {
      name: 'mailgun-unsubscribes',
      title: 'Mailgun unsubscribes',
      judge: judgeMailgunUnsubscribe,
    },
  },
  {
    service: 'ses',
    has: ['EmailAddress', 'Reason'],
    contacts: { columns: { status: 'reason', ignore: 'lastupdatetime' } },
    blocks: {
      name: 'ses',
      title: 'Amazon SES suppression list',
      mayBeBare: true,
      judge: (field) => byReason(field('Reason')),
    },
  },
  {
    service: 'resend',
    has: ['email', 'origin', 'source_id'],
    contacts: { columns: { status: 'origin', ignore: 'id sourceid createdat' } },
  },
  {
    service: 'resend',
    has: ['email', 'origin'],
    blocks: {
      name: 'resend-suppressions',
      title: 'Resend suppressions',
      judge: (field) => byReason(field('origin')),
    },
  },
  {
    service: 'mailchimp',
    has: ['Email Address', 'LEID', 'EUID'],
    contacts: {
      columns: {
        ignore:
          'memberrating optintime optinip confirmtime confirmip latitude longitude gmtoff ' +
          'dstoff lastchanged leid euid unsubcampaign unsubcampaigntitle unsubcampaignid ' +
          'cleancampaign cleancampaigntitle cleancampaignid',
      },
    },
  },
  {
    service: 'sendgrid',
    has: ['EMAIL', 'ALTERNATE_EMAILS', 'CONTACT_ID'],
    contacts: { columns: { ignore: 'contactid createdat updatedat' } },
  },
  {
    service: 'listmonk',
    has: ['uuid', 'email', 'attributes', 'status'],
    contacts: { columns: { customFields: 'attributes', ignore: 'uuid createdat updatedat' } },
  },
  {
    // The answer of the listmonk API, a subscriber in each line.
    service: 'listmonk',
    has: ['uuid', 'email', 'attribs', 'lists', 'status'],
    contacts: {
      columns: { customFields: 'attribs', tags: 'lists', ignore: 'id uuid createdat updatedat' },
      lists: 'lists',
    },
  },
  {
    service: 'mailgun',
    has: ['address', 'subscribed', 'vars'],
    contacts: { columns: { email: 'address', customFields: 'vars' } },
  },
  {
    service: 'resend',
    has: ['email', 'unsubscribed'],
    contacts: { columns: { ignore: 'id createdat' } },
    blocks: { name: 'resend-contacts', title: 'Resend contacts', judge: judgeResendContact },
  },
  {
    service: 'postal',
    has: ['type', 'address', 'keep_until'],
    blocks: {
      name: 'postal-suppressions',
      title: 'Postal suppressions',
      // Postal suppresses a recipient after hard or repeated failures.
      judge: (field) =>
        field('type') === 'recipient' ? { reason: 'bounce' } : { skip: 'is no recipient' },
    },
  },
  {
    service: 'listmonk',
    has: ['email', 'type', 'source', 'subscriber_uuid'],
    blocks: { name: 'listmonk-bounces', title: 'listmonk bounces', judge: judgeListmonkBounce },
  },
  {
    service: 'mailgun',
    has: ['address', 'created_at'],
    blocks: {
      name: 'mailgun-complaints',
      title: 'Mailgun complaints',
      // A user's own list may have the same columns; then its reason counts.
      judge: (field) => byReason(field('reason'), 'complaint'),
    },
  },
  plainFile,
];
