// What each area of the API is about, by the name that its routes carry: the tags of the OpenAPI
// document. A test holds the list to the mounted routes.

export const areas: Readonly<Record<string, string>> = {
  messages: 'Sending messages and following them: statuses, deliveries, timelines',
  domains: 'Sending domains, their DNS records and verification',
  senders: 'Addresses that messages may come from',
  blocks:
    'Addresses that get no mail: they bounced, complained, unsubscribed or were blocked by hand',
  organization: 'The organization of the key: its onboarding review, and who changed what in it',
  'API keys': 'Keys and what they may do',
  usage: 'How much was sent in a month, and what it costs',
  analytics: 'What became of the mail: rates, by time and by recipient domain',
};
