// Tables of the store itself.
import type { EngineWords } from '../migration.ts';

export const store = ({ clustered }: EngineWords) => `
-- Migrations that have run, with their times.
create table migrations (name text primary key, applied_at bigint not null);

-- A counter that shows whether writes work.
create table probe (counter bigint not null);
insert into probe (counter) values (0);

-- Migrations that leave older versions working, and how old these may be.
create table compatible_versions (
  name text primary key,
  compatible_from text not null
) ${clustered};
`;
