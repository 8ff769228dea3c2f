// Opens and clicks (src/tracking): the links of a content and where its HTML is cut at them, who opened and
// clicked, and what organizations track unless a send says otherwise.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const tracking: Migration = {
  name: '0026-tracking',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      `create table content_links (
        content_id text not null references contents on delete cascade, link integer not null,
        url text not null, primary key (content_id, link)) ${compact}`,
      // One row for all cuts of a content: composing reads it for each message.
      `create table content_cuts (
        content_id text primary key references contents on delete cascade,
        cuts text not null) ${compact}`,
      // `told`: when which link was last told of, so that a repeat soon after tells nothing.
      `create table engagements (
        message_id text not null references messages on delete cascade, delivery_id text not null,
        opened_at bigint, clicked_at bigint, opens bigint not null, clicks bigint not null,
        automated bigint not null, told text not null,
        primary key (message_id, delivery_id)) ${compact}`,
      'alter table organizations add column track_opens integer not null default 0',
      'alter table organizations add column track_clicks integer not null default 0',
    ];
  },
};
