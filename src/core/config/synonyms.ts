// Names that other mail services give to fields of ours. An unknown field gets the hint of this
// table before the nearest name by letters (src/core/api/schema-words.ts).

/** Our fields for each foreign name. A hint names the fields that the request can have. */
const meanings: readonly (readonly [ours: readonly string[], theirs: readonly string[]])[] = [
  [
    ['scheduledFor'],
    ['scheduledAt', 'sendAt', 'sendTime', 'scheduleAt', 'deliverAt', 'deliveryTime', 'startTime'],
  ],
  [
    ['templateData'],
    [
      ...['variables', 'vars', 'data', 'mergeVars', 'substitutions', 'substitutionData'],
      ...['dynamicTemplateData', 'templateModel', 'templateVariables', 'params', 'context'],
    ],
  ],
  [['html'], ['htmlBody', 'bodyHtml', 'htmlContent', 'htmlPart']],
  [['text'], ['textBody', 'bodyText', 'textContent', 'textPart', 'plainText', 'plain']],
  [
    ['html', 'text'],
    ['body', 'content', 'message'],
  ],
  [['subject'], ['subjectLine', 'title']],
  [['replyTo'], ['reply', 'replyToAddress', 'replyToAddresses', 'replyToList']],
  [['to'], ['recipients', 'recipient', 'toAddresses', 'destination', 'personalizations', 'sendTo']],
  [['cc'], ['ccAddresses']],
  [['bcc'], ['bccAddresses']],
  [['from'], ['sender', 'fromEmail', 'fromAddress', 'fromEmailAddress', 'source', 'fromName']],
  [
    ['templateId', 'templateSlug'],
    ['template', 'templateName', 'templateAlias', 'templateKey'],
  ],
  [['attachments'], ['files', 'inlineImages', 'attachment']],
  [['content'], ['base64', 'fileData']],
  [['contentType'], ['mimeType', 'mediaType']],
  [['contentId'], ['cid', 'inlineId']],
  [['headers'], ['customHeaders', 'extraHeaders']],
  [['tags'], ['categories', 'category', 'tag']],
  [['metadata'], ['customArgs', 'customData', 'uniqueArgs', 'userVariables']],
  [['opens'], ['trackOpens', 'openTracking']],
  [['clicks'], ['trackClicks', 'clickTracking', 'trackLinks']],
  [['unsubscribeGroupId'], ['asm', 'groupId', 'topicId', 'unsubscribeGroup']],
  [['email'], ['emailAddress', 'mail']],
  [['name'], ['displayName', 'fullName']],
  [['url'], ['endpoint', 'callbackUrl', 'webhookUrl', 'uri']],
  [['events'], ['eventTypes', 'enabledEvents', 'triggers']],
  [['idempotencyKey'], ['idempotencyToken', 'requestId']],
];

/** Hints for names of values that belong elsewhere in the API. */
const elsewhere: readonly (readonly [words: string, names: readonly string[]])[] = [
  [
    'send it to POST /v1/messages/scheduled as scheduledFor',
    ['scheduledFor', 'scheduledAt', 'sendAt', 'scheduleAt', 'deliverAt', 'deliveryTime'],
  ],
  ['send it as the header Idempotency-Key', ['idempotencyKey', 'idempotencyToken']],
];

/** Returns a name in lower case without `_` and `-`. */
function foldName(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replaceAll('-', '');
}

const fieldsByName = new Map(
  meanings.flatMap(([ours, theirs]) => theirs.map((name) => [foldName(name), ours] as const)),
);
const wordsByName = new Map(
  elsewhere.flatMap(([words, names]) => names.map((name) => [foldName(name), words] as const)),
);

/** Returns the names of our fields that a foreign name may mean. */
export function synonymsOf(name: string): readonly string[] {
  return fieldsByName.get(foldName(name)) ?? [];
}

/** Returns advice on a value that no field of the request takes; undefined for an unknown name. */
export function placeElsewhere(name: string): string | undefined {
  return wordsByName.get(foldName(name));
}
