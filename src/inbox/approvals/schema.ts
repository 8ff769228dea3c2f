// Input and output schemas of actions in mailboxes and of agent activity (specification 2.5, 4.4).

import { z } from 'zod';
import { attachmentNumber } from '../../core/api/file-schema.ts';
import { cursorPageOf, cursorQuery } from '../../core/api/pagination.ts';
import { idOf, timeRange } from '../../core/api/resource-schema.ts';

const actionTypes = ['sendMessage', 'reply', 'forward', 'label', 'move', 'note'] as const;
const actionStates = ['proposed', 'approved', 'rejected', 'executed', 'failed', 'expired'] as const;

export type ActionType = (typeof actionTypes)[number];
export type ActionState = (typeof actionStates)[number];

const mailboxId = idOf('mailbox', 'is not a mailbox id');

export const actionPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  actionId: idOf('mailboxAction', 'is not the id of an action').describe('Id of the action'),
});

export const actionFilePath = actionPath.extend({
  n: attachmentNumber.describe('Number of the attachment, from 1'),
});

export const listActionsQuery = z.strictObject({
  ...timeRange('actions created'),
  state: z.enum(actionStates).optional().meta({ description: 'Only actions in this state' }),
  type: z.enum(actionTypes).optional().meta({ description: 'Only actions of this type' }),
  actor: z
    .string()
    .regex(
      /^(?:key|exti|mem)_[0-9a-z]{16,24}$/,
      'is not the id of a key, an installation or a member',
    )
    .optional()
    .meta({ description: 'Only actions of this key, installation or member' }),
  ...cursorQuery,
});

export const rejectActionInput = z
  .strictObject({
    note: z
      .string()
      .max(2_000)
      .nullish()
      .meta({ description: 'Note on the decision, for the key that proposed it' }),
  })
  .meta({ examples: [{ note: 'Ask for the order number first' }] });

const actor = z.object({
  kind: z
    .enum(['user', 'key', 'installation'])
    .describe('Kind of the actor: a person, a key or an installation of an extension'),
  id: z.string().nullable().meta({ description: 'Null for the operator at the command line' }),
  displayName: z.string().nullable().describe('Name of the actor at that time; null without one'),
});

/** An action or a proposal in a mailbox, by a key, an installation, a member or the operator. */
export const mailboxActionOutput = z
  .object({
    id: z.string().describe('Id of the action'),
    mailboxId: z.string().describe('Mailbox of the action'),
    type: z.enum(actionTypes).describe('Type of the action'),
    state: z.enum(actionStates).describe('State of the action; a proposal begins as proposed'),
    actor: actor.describe('Key, installation or member that acted'),
    messageId: z
      .string()
      .nullable()
      .meta({ description: 'Id of the sent message; null until it is sent' }),
    threadId: z.string().nullable().describe('Thread of the action; null without one'),
    summary: z.record(z.string(), z.unknown()).meta({
      description:
        'For a send: from, to, cc, bcc, subject, preview and the number of attachments; for ' +
        'a proposal also replyTo',
    }),
    createdAt: z.string().describe('Time of the action or proposal'),
    decidedAt: z.string().nullable().describe('Time of the decision; null without one'),
    decidedBy: actor.nullable().describe('Person who decided; null without a decision'),
    note: z.string().nullable().meta({ description: 'Note on the decision' }),
    expiresAt: z.string().nullable().meta({ description: 'Time at which a proposal expires' }),
    failure: z
      .object({
        _tag: z.string().describe('Kind of the error'),
        message: z.string().describe('Sentence on the error'),
      })
      .nullable()
      .meta({
        description: 'Reason for which an approved proposal could not be sent, or expired early',
      }),
    digest: z
      .string()
      .nullable()
      .meta({
        description:
          'Digest of the proposed MIME (`…/raw`): `sha256:` and hexadecimal digits. It is sent ' +
          'without Bcc, and after Date, Message-ID, DKIM-Signature and X-Service-Token',
      }),
    editedDigest: z.string().nullable().meta({
      description: 'Digest of the MIME that was sent, if `decidedBy` edited it; else null',
    }),
  })
  .meta({ id: 'MailboxAction', description: 'An action or a proposal in a mailbox' });

export const actionPage = cursorPageOf(mailboxActionOutput);

/** A file of a mail on which a person decides. */
export const picturedFile = z.object({
  n: z.number().meta({ description: 'Its number in the mail, from 1' }),
  filename: z.string().describe('Name of the file, such as invoice.pdf'),
  contentType: z.string().nullable().describe('Media type; null if not given'),
  contentId: z.string().nullable().meta({ description: 'Id by which the HTML shows it inline' }),
  size: z.number().meta({ description: 'Bytes' }),
});

/** Fields that a mail shown for a decision has in addition to the fields of a draft. */
export const pictureFields = {
  from: z
    .object({
      email: z.string().describe('Address of the sender'),
      name: z.string().nullable().describe('Display name of the sender; null without one'),
    })
    .describe('Sender of the mail'),
  replyTo: z.array(z.string()).describe('Addresses that replies go to'),
  notes: z.array(z.string()).meta({
    description:
      'Sentences on what the HTML has beside its words: hidden words, pictures of other ' +
      'servers, forms, words of style sheets, parts for Outlook',
  }),
};

/** Recipients and words of a mail that is not sent yet. */
export const unsentFields = {
  to: z.array(z.string()).describe('Addresses in To'),
  cc: z.array(z.string()).describe('Addresses in Cc'),
  bcc: z.array(z.string()).describe('Addresses in Bcc'),
  subject: z.string().nullable().describe('Subject line; null without one'),
  text: z.string().nullable().describe('Plain text; null without any'),
  html: z.string().nullable().describe('HTML; null without any'),
};

const mailPicture = z.object({
  ...pictureFields,
  ...unsentFields,
  attachments: z.array(picturedFile).describe('Attached files'),
});

/** The action, with the proposed content while it is open. */
export const shownActionOutput = mailboxActionOutput
  .extend({
    content: mailPicture
      .extend({
        subject: z.string().describe('Subject line'),
        attachments: z
          .array(
            picturedFile.extend({
              digest: z.string().meta({ description: '`sha256:` of its bytes' }),
            }),
          )
          .describe('Attached files'),
      })
      .nullable()
      .meta({ description: 'Mail of the proposal; null once it is decided' }),
  })
  .meta({ id: 'ShownMailboxAction', description: 'An action, with the mail of a proposal' });

export const activityQuery = z.strictObject(timeRange('actions and events'));

export const activityOutput = z
  .object({
    actions: z
      .object({
        byType: z
          .array(
            z.object({
              type: z.string().describe('Type of the actions'),
              count: z.number().describe('Number of actions'),
            }),
          )
          .describe('Number of actions by type'),
        byState: z
          .array(
            z.object({
              state: z.string().describe('State of the actions'),
              count: z.number().describe('Number of actions'),
            }),
          )
          .describe('Number of actions by state'),
      })
      .describe('Actions of keys and installations'),
    events: z
      .object({
        byType: z
          .array(
            z.object({
              type: z.string().describe('Kind of the events'),
              count: z.number().describe('Number of events'),
            }),
          )
          .describe('Number of events by kind'),
      })
      .describe('Events of the mailbox'),
    pendingApprovals: z.number().meta({ description: 'Sends that now wait for approval' }),
  })
  .meta({ id: 'MailboxActivity', description: 'Counts of the events of a mailbox' });

export type ActionActor = z.output<typeof actor>;
export type MailboxAction = z.output<typeof mailboxActionOutput>;
export type MailPicture = z.output<typeof mailPicture>;
export type ShownAction = z.output<typeof shownActionOutput>;
export type ListActions = z.output<typeof listActionsQuery>;
export type RejectAction = z.output<typeof rejectActionInput>;
export type ActivityQuery = z.output<typeof activityQuery>;
export type MailboxActivity = z.output<typeof activityOutput>;
