// Short guides on the first page of the reference. Each names operations, and their sections have a
// curl command that works when pasted.

interface Guide {
  title: string;
  /** Paragraphs, with `code` as the only markup. */
  text: string;
  /** Names of the operations, in the order of the steps. */
  operations: readonly string[];
}

export const guides: readonly Guide[] = [
  {
    title: 'Send mail',
    text:
      'Send, then follow the mail by its events. With `"dryRun": true` a send is checked and ' +
      'nothing leaves. While `delivery.mode` is `capture`, only mail to local mailboxes travels.',
    operations: ['sendMessage', 'listMessageEvents', 'explainMessage'],
  },
  {
    title: 'Send from your own domain',
    text: 'Add the domain, publish its DNS records, then have them checked.',
    operations: ['addDomain', 'listDnsRecords', 'verifyDomain'],
  },
  {
    title: 'Repeat a request safely',
    text:
      'Give a POST an `Idempotency-Key`. After a time-out or a 5xx, repeat it with the same key: ' +
      'the first answer comes again, and nothing is sent twice. After 429, wait for `Retry-After`.',
    operations: ['sendMessage'],
  },
  {
    title: 'Receive mail',
    text: 'Make a mailbox. Mail to its address becomes threads, which you read and answer.',
    operations: ['createMailbox', 'listThreads', 'listThreadMessages', 'replyToMessage'],
  },
  {
    title: 'Follow events',
    text:
      'Have events posted to your endpoint, or read them as a stream. Each post is signed: ' +
      '`webhook-signature` is the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks).',
    operations: ['createWebhook', 'testWebhook', 'listEventKinds', 'streamEvents'],
  },
  {
    title: 'Use templates',
    text: 'Store the content, try it with data, publish it, then name its slug in a send.',
    operations: ['createTemplate', 'renderTemplate', 'publishTemplate'],
  },
  {
    title: 'Send to many contacts',
    text: 'A campaign has content and an audience. A run sends it to each contact once.',
    operations: ['importContacts', 'createCampaign', 'estimateCampaign', 'createCampaignRun'],
  },
  {
    title: 'Read long lists',
    text:
      'Some lists have pages: `page` and `limit`, with the total in `pagination`. Long logs have ' +
      'a cursor: pass `nextCursor` back as `cursor` until it is null.',
    operations: ['listMessages', 'listEvents'],
  },
];
