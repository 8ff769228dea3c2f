// Shape of the explanation of a message: `GET /v1/messages/{id}/explain`, `svc messages explain`.
import { z } from 'zod';
import { queueStates } from '../deliveries/queue-queries.ts';
import { waitReasons } from '../deliveries/status.ts';
import { attempt, messageStatus } from '../messages/schema.ts';

const serverWords = z
  .object({
    code: z.number().nullable().describe('SMTP reply code, such as 550; null without a reply'),
    enhancedCode: z
      .string()
      .nullable()
      .describe('Enhanced status code (RFC 3463); null without one'),
    reply: z.string().describe('Text of the reply'),
    verb: z.string().meta({ description: '`DSN` for a bounce that came by mail' }),
    host: z.string().nullable().describe('Host name of the server; null if none was reached'),
    address: z.string().nullable().describe('IP address of the server; null if none was reached'),
  })
  .meta({ id: 'ServerWords', description: 'Last reply of a server' });
export type ServerWords = z.output<typeof serverWords>;

const recipientExplanation = z
  .object({
    recipientId: z.string().describe('Id of the recipient'),
    deliveryId: z.string().describe('Delivery to the recipient'),
    kind: z
      .enum(['to', 'cc', 'bcc'])
      .nullable()
      .describe('Header field that names the recipient; null if unknown'),
    email: z.string().describe('Address of the recipient'),
    status: messageStatus.describe('Status for this recipient'),
    state: z
      .enum([...queueStates, 'ended'])
      .meta({ description: 'State of the delivery in the queue' }),
    happened: z.string().meta({ description: 'Sentence on the last event' }),
    happenedAt: z.string().describe('Time of the last event'),
    waitReason: z.enum(waitReasons).nullable().meta({
      description: 'Null if the delivery does not wait, or was not checked since it began to wait',
    }),
    because: z.string().nullable().meta({ description: 'Reason for which it waits' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'The next step, by the service or by the reader' }),
    nextAt: z.string().nullable().describe('Time of the next step; null if none is planned'),
    help: z
      .object({
        purpose: z.string().describe('Purpose of the command'),
        command: z.string().describe('Command to type'),
      })
      .nullable()
      .meta({ description: 'Command that helps' }),
    said: serverWords.nullable().meta({ description: 'Null if no server was asked' }),
    errorCode: z.string().nullable().describe('Code of the latest error; null without one'),
    cause: z.string().optional().meta({ description: 'Cause that the reply names' }),
    remedy: z.string().optional().meta({ description: 'Step that removes the cause' }),
    memberRefusals: z.string().optional().meta({
      description:
        'Sentence on refusals of addresses behind the recipient, from three of them in 30 days on',
    }),
    attemptCount: z.number().describe('Number of attempts so far'),
    attempts: z.array(attempt).meta({ description: 'The latest attempts, oldest first' }),
  })
  .meta({
    id: 'RecipientExplanation',
    description: 'State and next step of the delivery to a recipient, in words',
  });
export type RecipientExplanation = z.output<typeof recipientExplanation>;

export const messageExplanation = z
  .object({
    messageId: z.string().describe('Id of the message'),
    subject: z.string().nullable().describe('Subject line; null without one'),
    status: messageStatus.describe('Status over all recipients'),
    createdAt: z.string().describe('Time of creation'),
    summary: z.string().meta({ description: 'Number of recipients by status, as a sentence' }),
    recipients: z.array(recipientExplanation).describe('Explanation for each recipient'),
  })
  .meta({ id: 'MessageExplanation', description: 'State and next step of a message, in words' });
export type MessageExplanation = z.output<typeof messageExplanation>;
