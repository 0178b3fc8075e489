CREATE TABLE migration (
  version integer primary key check (version >= 1),
  name text not null,
  time text not null
) strict;
CREATE TABLE store_fact (
  name text not null primary key,
  value text not null
) strict, without rowid;
CREATE TABLE ledger_entry (
  idx integer primary key check (idx >= 0),
  stream text not null check (stream <> ''),
  position integer not null check (position >= 0),
  previous text not null,
  kind text not null check (kind <> ''),
  time text not null check (length(time) = 24),
  actor text not null check (actor <> ''),
  body_hash text not null check (length(body_hash) = 64 and body_hash is lower(hex(unhex(body_hash)))),
  hash text not null unique check (length(hash) = 64 and hash is lower(hex(unhex(hash)))),
  body text not null check (body <> ''),
  unique (stream, position)
) strict;
CREATE TABLE context_fact (
  id integer primary key check (id = 1),
  index_hash text not null,
  files integer not null,
  sections integer not null,
  sources_hash text not null,
  rules integer not null,
  built_at text not null,
  revision integer not null
) strict;
CREATE TABLE context_image (
  name text not null,
  part integer not null,
  bytes blob not null,
  primary key (name, part)
) strict;
CREATE TABLE context_file (
  path text not null,
  version text not null,
  sections blob not null,
  primary key (path, version)
) strict;
CREATE TABLE context_symbol (
  symbol_id text not null primary key,
  symbol text not null,
  last text
) strict, without rowid;
CREATE VIRTUAL TABLE context_search using fts5(
  body, path, headings, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
CREATE TABLE jobs_job (
  number integer primary key,
  job_id text not null unique,
  run_id text not null,
  message_id text not null unique,
  plan_hash text not null check (length(plan_hash) = 64),
  step_count integer not null check (step_count between 1 and 1000),
  breach_ordinal integer check (breach_ordinal between 1 and step_count),
  breach text,
  intent text not null,
  message text not null,
  check ((breach is null) = (breach_ordinal is null))
) strict;
CREATE TABLE jobs_step (
  job_id text not null references jobs_job (job_id),
  ordinal integer not null,
  step_id text not null unique,
  op text not null check (op in ('READ_SYMBOL', 'READ_SECTION', 'WRITE', 'EXECUTE')),
  step text not null,
  resolved text not null,
  status text not null check (status in ('PENDING', 'LEASED', 'COMMITTED', 'FAILED')),
  lease_owner text check (lease_owner <> ''),
  lease_expires_ms integer,
  fencing_token integer not null check (fencing_token >= 0),
  touched_ms integer,
  primary key (job_id, ordinal)
) strict, without rowid;
CREATE INDEX jobs_step_status on jobs_step (job_id, status, ordinal);
CREATE INDEX jobs_step_barrier on jobs_step (job_id, ordinal)
  where op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED';
CREATE TABLE jobs_receipt (
  step_id text not null primary key references jobs_step (step_id),
  job_id text not null,
  ordinal integer not null,
  status text not null check (status in ('SUCCESS', 'FAILURE')),
  receipt_hash text not null check (length(receipt_hash) = 64),
  receipt text not null,
  unique (job_id, ordinal)
) strict, without rowid;
CREATE TABLE jobs_open (
  number integer primary key references jobs_job (number),
  job_id text not null unique references jobs_job (job_id)
) strict;
CREATE TABLE world (
  number integer primary key,
  world_id text not null unique,
  state text not null,
  lock_holder text,
  lock_until integer not null default 0
) strict;
CREATE TABLE world_person (
  world integer not null references world (number),
  number integer not null,
  person_id text not null,
  display_name text not null,
  primary key (world, number),
  unique (world, person_id)
) strict, without rowid;
CREATE TABLE world_entry (
  world integer not null,
  wseq integer not null,
  entry_id text not null,
  bundle_id text not null,
  position integer not null,
  request_id text not null,
  created_ms integer not null,
  created_at text not null,
  author_id text not null,
  author_class text not null,
  channel text not null,
  scope text not null,
  audience text not null,
  text text not null check (text <> ''),
  primary key (world, wseq),
  unique (world, entry_id)
) strict, without rowid;
CREATE INDEX world_entry_bundle on world_entry (world, bundle_id);
CREATE TABLE world_entry_visible (
  world integer not null,
  person integer not null,
  wseq integer not null,
  primary key (world, person, wseq)
) strict, without rowid;
CREATE TABLE world_terms (
  world integer not null,
  key text not null,
  block integer not null,
  lows blob not null,
  primary key (world, key, block)
) strict, without rowid;
CREATE TABLE world_calendar (
  world integer not null references world (number),
  number integer not null,
  item_id text not null,
  state text not null,
  time_ms integer,
  body text not null,
  primary key (world, number),
  unique (world, item_id)
) strict, without rowid;
CREATE TABLE world_message (
  world integer not null references world (number),
  number integer not null,
  time_ms integer not null,
  body text not null,
  primary key (world, number)
) strict, without rowid;
CREATE TABLE world_invocation (
  world integer not null,
  request_id text not null,
  body_sha256 text not null,
  status text not null,
  fence integer not null,
  lease_until integer not null,
  outcome text,
  headers text,
  primary key (world, request_id)
) strict, without rowid;
CREATE TABLE world_call (
  world integer not null,
  number integer not null,
  call_id text not null,
  request_id text not null,
  body text not null,
  primary key (world, number),
  unique (world, call_id)
) strict, without rowid;
CREATE TABLE world_token (
  sha256 text not null primary key,
  role text not null,
  world_id text,
  viewer text
) strict, without rowid;
CREATE TABLE world_recent_terms (
  world integer not null,
  wseq integer not null,
  keys text not null,
  primary key (world, wseq)
) strict, without rowid;
CREATE TABLE ledger_piece (
  name text not null primary key,
  text text not null
) strict;
insert into migration (version, name, time) values (1, 'ledger', '2026-11-15T19:37:31.670Z');
insert into migration (version, name, time) values (2, 'context', '2026-11-15T19:37:31.670Z');
insert into migration (version, name, time) values (3, 'jobs', '2026-11-15T19:37:31.671Z');
insert into migration (version, name, time) values (6, 'world', '2026-11-15T19:37:31.672Z');
insert into migration (version, name, time) values (7, 'world-recent-terms', '2026-11-15T19:37:31.672Z');
insert into migration (version, name, time) values (8, 'ledger-pieces', '2026-11-15T19:37:31.672Z');
insert into store_fact (name, value) values ('ledger_id', '00000000-0000-4000-8000-043500010001');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (0, 'world/w_harbour', 0, '0000000000000000000000000000000000000000000000000000000000000000', 'WORLD_CREATED', '2026-11-15T19:37:31.689Z', 'library', '80799becf4a73b1dee17284d106d8b4e10b5ee5ea41a1c67b0a51c8f790ad6dc', '276497333156cf009d0239681a104a5c9d385d3b1ebda37329801072069c1232', '{"clock_ms":1767252600000,"people":[{"display_name":"Ana","person_id":"ANA"},{"display_name":"Ben","person_id":"BEN"}],"settings":{"autonomy_interval_s":null,"cast":"room","context":{"output_reserve":2048,"pack_percent":40,"threshold_percent":80,"window_tokens":32768},"operator_id":"GEORGE","operator_name":"George","pocket":{"available":true,"clock_hidden":false},"time_policy":{"kind":"explicit"},"timezone":"UTC","title":"Harbour","tools":{"beat_bytes":24576,"max_calls":4,"max_results":20,"pack_bytes":8192,"wall_ms":30000},"visibility_default":"presence","writer":{"api_key_env":null,"base_url":null,"kind":"scripted","model":null,"rules":"Write.","script":["{\"when\":{\"beat\":1},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"Nobody looks under the blue boat.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"Ana''s hands shake.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"ANA\"]}}]}}}","{\"when\":{\"beat\":2},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"BEN\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The lamp is blue too.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"A second key hangs behind the blue door.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"WORLD\"]}}]}}}","{\"when\":{\"input_contains\":\"again\"},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The blue boat, again.\"}]}}}"],"timeout_ms":120000},"writer_lint":"report"},"world_id":"w_harbour","world_key":"010000004d545b626970777e858c939aa1a8afb6bdc4cbd2d9e0e7eef5fc030a"}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (1, 'world/w_harbour', 1, '276497333156cf009d0239681a104a5c9d385d3b1ebda37329801072069c1232', 'WORLD_PRESENCE_SET', '2026-11-15T19:37:31.693Z', 'library', '3a0f07c9beed7ef6b1906cd3f9db28407ae365d5ba08e77c5c5967c35fc67413', 'e14f2a73fbb273128c4393e033aaa06d63fa82bddabbc07a0cce6ef5e2a1cb3c', '{"present":["ANA","GEORGE"]}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (2, 'world/w_harbour', 2, 'e14f2a73fbb273128c4393e033aaa06d63fa82bddabbc07a0cce6ef5e2a1cb3c', 'WORLD_BEAT', '2026-11-15T19:37:31.707Z', 'library', 'eb6dcf4e2d2299feddaf35728e44b3fc935d8fa448709c3b4b89d8cd10aaee2a', 'c3f33eda0500dc30adf8e82de3b47f05f98dc136e5062f5263d97dc8aa6d6156', '{"anchors":[],"beat_no":1,"body_sha256":"92db6f6091739d55c04cbc8b6219f040a86834f9f4865ea79c2f0265a062e1c6","clock_after_ms":1767252600000,"clock_before_ms":1767252600000,"due":[],"outcome_sha256":"aa3113ba350483cf21123c6201120183c76a04b028fcb6548684c7f0965758a3","packs":[],"passes":[{"actor":"WORLD","code":null,"output_sha256":"b2844e38904533131187c662b55551f51fc175380dd00930e584791f7d5473a1","result":"WROTE","where":null}],"paused":false,"present":["ANA","GEORGE"],"rehydration":[],"request_id":"old-1","result":"WROTE","scene_no":1,"script_used":[0],"write_bundle":{"bundle_id":"b_2nixfbgwprbh4o3q","entries":[{"author":{"author_class":"OPERATOR","author_id":"GEORGE"},"bundle_id":"b_2nixfbgwprbh4o3q","channel":"USER","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_vt2rb24jabbj367g","request_id":"old-1","text":"The spare key is under the blue boat.","visibility":{"scope":"PRIVATE","visible_to":["ANA","GEORGE"]}},{"author":{"author_class":"PERSON","author_id":"ANA"},"bundle_id":"b_2nixfbgwprbh4o3q","channel":"PEOPLE","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_rsgtucddsdrxfx3m","request_id":"old-1","text":"Nobody looks under the blue boat.","visibility":{"scope":"PRIVATE","visible_to":["ANA","GEORGE"]}},{"author":{"author_class":"WORLD","author_id":"WORLD"},"bundle_id":"b_2nixfbgwprbh4o3q","channel":"VOICE","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_xp6fooy24n7oawkn","request_id":"old-1","text":"Ana''s hands shake.","visibility":{"scope":"PRIVATE","visible_to":["ANA"]}}],"proposed_by":{"actor":"WORLD","engine":"ENGINE_9_LLM_WRITER"},"rejection":{"reason":null,"rejected":false},"request_id":"old-1","wrote":true},"zone":"UTC"}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (3, 'world/w_harbour', 3, 'c3f33eda0500dc30adf8e82de3b47f05f98dc136e5062f5263d97dc8aa6d6156', 'WORLD_SCENE_SET', '2026-11-15T19:37:31.710Z', 'library', '9ccb42e9d8836d8bf39be091a20cc70cd08ad8763856380edc6ccdeb3017ec3e', 'a286b8b8dfe4ea33f74a85619efe42485563d6d0370589065d694609d2f653a7', '{"present":["BEN","GEORGE"],"scene_no":2,"write_bundle":{"bundle_id":"b_wiwqewivpzljugwx","entries":[{"author":{"author_class":"WORLD","author_id":"WORLD"},"bundle_id":"b_wiwqewivpzljugwx","channel":"VOICE","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_6xitditqgg2ultfs","request_id":"control","text":"The cellar is cold.","visibility":{"scope":"PRIVATE","visible_to":["BEN","GEORGE"]}}],"proposed_by":{"actor":"library","engine":"ENGINE_1_INVOCATION"},"rejection":{"reason":null,"rejected":false},"request_id":"control","wrote":true}}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (4, 'world/w_harbour', 4, 'a286b8b8dfe4ea33f74a85619efe42485563d6d0370589065d694609d2f653a7', 'WORLD_BEAT', '2026-11-15T19:37:31.715Z', 'library', '0ab93b1801b3e79594748c4551eb45da75efdd2cb9e5c8189789ad307dd49a9e', 'aca5a8d824440bbdefa598b69a8bfb7b11e474a793744fc0efbb378bfde0c46c', '{"anchors":[{"created_at_world":"2026-01-01T08:15:00+00:00","provenance":{"used_entry_ids":["e_6xitditqgg2ultfs"]},"request_id":"old-2","scene_anchor_id":"sa:2:cb6aa8337edff195","text":"The cellar is cold."}],"beat_no":2,"body_sha256":"e59a59c21dde6489d49c9886722b4983a20bf18ff3dbbc22279c41c3aa344e1d","clock_after_ms":1767255300000,"clock_before_ms":1767252600000,"due":[],"outcome_sha256":"1779e6d736b78b0bfbf70e334cf2b0562950282469f9373acb0d68a96c68530e","packs":[{"kind":"anchor","replay":[],"text":[4],"view":"room:BEN,GEORGE"}],"passes":[{"actor":"WORLD","code":null,"output_sha256":"e11748aa13d14188dff7d17ca576ef5e397a031c04a5110e98504e6ef296173c","result":"WROTE","where":null}],"paused":false,"present":["BEN","GEORGE"],"rehydration":[],"request_id":"old-2","result":"WROTE","scene_no":2,"script_used":[1],"write_bundle":{"bundle_id":"b_sg3dypsauxgoxesr","entries":[{"author":{"author_class":"OPERATOR","author_id":"GEORGE"},"bundle_id":"b_sg3dypsauxgoxesr","channel":"USER","created_at_world":"2026-01-01T08:15:00+00:00","entry_id":"e_3x7argb3cr7rwgo2","request_id":"old-2","text":"Where is the spare key?","visibility":{"scope":"PRIVATE","visible_to":["BEN","GEORGE"]}},{"author":{"author_class":"PERSON","author_id":"BEN"},"bundle_id":"b_sg3dypsauxgoxesr","channel":"PEOPLE","created_at_world":"2026-01-01T08:15:00+00:00","entry_id":"e_4xhtkrya5clsiwqb","request_id":"old-2","text":"The lamp is blue too.","visibility":{"scope":"PRIVATE","visible_to":["BEN","GEORGE"]}},{"author":{"author_class":"WORLD","author_id":"WORLD"},"bundle_id":"b_sg3dypsauxgoxesr","channel":"VOICE","created_at_world":"2026-01-01T08:15:00+00:00","entry_id":"e_32vtcfahnqfwqdre","request_id":"old-2","text":"A second key hangs behind the blue door.","visibility":{"scope":"PRIVATE","visible_to":["WORLD"]}}],"proposed_by":{"actor":"WORLD","engine":"ENGINE_9_LLM_WRITER"},"rejection":{"reason":null,"rejected":false},"request_id":"old-2","wrote":true},"zone":"UTC"}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (5, 'world/w_harbour', 5, 'aca5a8d824440bbdefa598b69a8bfb7b11e474a793744fc0efbb378bfde0c46c', 'WORLD_CALENDAR_ADDED', '2026-11-15T19:37:31.717Z', 'library', 'ff5b773858ef2374df87f44567d5a10a4f8a473939c61b7e0842a9749cd08667', 'c0351cf256c30904791f31b8e5f7b48e87b57d485592875b44baa2469f537b52', '{"item":{"location":null,"notes":null,"time":"2026-01-01T09:00:00+00:00","title":"Ferry","visible_to":["GEORGE"]},"item_id":"k_1"}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (6, 'world/w_harbour', 6, 'c0351cf256c30904791f31b8e5f7b48e87b57d485592875b44baa2469f537b52', 'WORLD_MESSAGE_ADDED', '2026-11-15T19:37:31.718Z', 'library', 'c382eedb8713724468fcbb3d96f88891f261edbf0e528b779b6c14255017378e', '5ee2637babe8f1042167e158414275e35c5c3ae776068f0b753c912ae65617f5', '{"from":"ANA","text":"Not a word.","time":"2026-01-01T08:15:00+00:00","visible_to":["ANA","GEORGE"]}');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body_hash, hash, body) values (7, 'world/w_harbour', 7, '5ee2637babe8f1042167e158414275e35c5c3ae776068f0b753c912ae65617f5', 'WORLD_PRESENCE_SET', '2026-11-15T19:37:31.719Z', 'library', '017b6877de407b473ac63e43e1d0d932482fb1e0255d6e8209ae79eade00a6ea', 'f4c409d911d3d9d9b10395e2731187726d6c7b162d80c1771d4aa7dea53368d3', '{"present":["ANA","BEN","GEORGE"]}');
insert into world (number, world_id, state, lock_holder, lock_until) values (1, 'w_harbour', '{"clock_ms":1767255300000,"next_beat":3,"next_bundle":4,"next_item":2,"next_message":2,"next_person":5,"next_wseq":8,"packs":{"room:BEN,GEORGE":{"kind":"anchor","replay":[],"text":[4]}},"parent":null,"paused":false,"present":["ANA","BEN","GEORGE"],"scene_from":4,"scene_no":2,"script_used":[0,1],"settings":{"autonomy_interval_s":null,"cast":"room","context":{"output_reserve":2048,"pack_percent":40,"threshold_percent":80,"window_tokens":32768},"operator_id":"GEORGE","operator_name":"George","pocket":{"available":true,"clock_hidden":false},"time_policy":{"kind":"explicit"},"timezone":"UTC","title":"Harbour","tools":{"beat_bytes":24576,"max_calls":4,"max_results":20,"pack_bytes":8192,"wall_ms":30000},"visibility_default":"presence","writer":{"api_key_env":null,"base_url":null,"kind":"scripted","model":null,"rules":"Write.","script":["{\"when\":{\"beat\":1},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"Nobody looks under the blue boat.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"Ana''s hands shake.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"ANA\"]}}]}}}","{\"when\":{\"beat\":2},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"BEN\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The lamp is blue too.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"A second key hangs behind the blue door.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"WORLD\"]}}]}}}","{\"when\":{\"input_contains\":\"again\"},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The blue boat, again.\"}]}}}"],"timeout_ms":120000},"writer_lint":"report"},"world_id":"w_harbour","world_key":"010000004d545b626970777e858c939aa1a8afb6bdc4cbd2d9e0e7eef5fc030a","zone":"UTC"}', null, 0);
insert into world_person (world, number, person_id, display_name) values (1, 3, 'ANA', 'Ana');
insert into world_person (world, number, person_id, display_name) values (1, 4, 'BEN', 'Ben');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 1, 'e_vt2rb24jabbj367g', 'b_2nixfbgwprbh4o3q', 2, 'old-1', 1767252600000, '2026-01-01T07:30:00+00:00', 'GEORGE', 'OPERATOR', 'USER', 'PRIVATE', '["ANA","GEORGE"]', 'The spare key is under the blue boat.');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 2, 'e_rsgtucddsdrxfx3m', 'b_2nixfbgwprbh4o3q', 2, 'old-1', 1767252600000, '2026-01-01T07:30:00+00:00', 'ANA', 'PERSON', 'PEOPLE', 'PRIVATE', '["ANA","GEORGE"]', 'Nobody looks under the blue boat.');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 3, 'e_xp6fooy24n7oawkn', 'b_2nixfbgwprbh4o3q', 2, 'old-1', 1767252600000, '2026-01-01T07:30:00+00:00', 'WORLD', 'WORLD', 'VOICE', 'PRIVATE', '["ANA"]', 'Ana''s hands shake.');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 4, 'e_6xitditqgg2ultfs', 'b_wiwqewivpzljugwx', 3, 'control', 1767252600000, '2026-01-01T07:30:00+00:00', 'WORLD', 'WORLD', 'VOICE', 'PRIVATE', '["BEN","GEORGE"]', 'The cellar is cold.');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 5, 'e_3x7argb3cr7rwgo2', 'b_sg3dypsauxgoxesr', 4, 'old-2', 1767255300000, '2026-01-01T08:15:00+00:00', 'GEORGE', 'OPERATOR', 'USER', 'PRIVATE', '["BEN","GEORGE"]', 'Where is the spare key?');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 6, 'e_4xhtkrya5clsiwqb', 'b_sg3dypsauxgoxesr', 4, 'old-2', 1767255300000, '2026-01-01T08:15:00+00:00', 'BEN', 'PERSON', 'PEOPLE', 'PRIVATE', '["BEN","GEORGE"]', 'The lamp is blue too.');
insert into world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, 7, 'e_32vtcfahnqfwqdre', 'b_sg3dypsauxgoxesr', 4, 'old-2', 1767255300000, '2026-01-01T08:15:00+00:00', 'WORLD', 'WORLD', 'VOICE', 'PRIVATE', '["WORLD"]', 'A second key hangs behind the blue door.');
insert into world_entry_visible (world, person, wseq) values (1, 1, 7);
insert into world_entry_visible (world, person, wseq) values (1, 2, 1);
insert into world_entry_visible (world, person, wseq) values (1, 2, 2);
insert into world_entry_visible (world, person, wseq) values (1, 2, 4);
insert into world_entry_visible (world, person, wseq) values (1, 2, 5);
insert into world_entry_visible (world, person, wseq) values (1, 2, 6);
insert into world_entry_visible (world, person, wseq) values (1, 3, 1);
insert into world_entry_visible (world, person, wseq) values (1, 3, 2);
insert into world_entry_visible (world, person, wseq) values (1, 3, 3);
insert into world_entry_visible (world, person, wseq) values (1, 4, 4);
insert into world_entry_visible (world, person, wseq) values (1, 4, 5);
insert into world_entry_visible (world, person, wseq) values (1, 4, 6);
insert into world_calendar (world, number, item_id, state, time_ms, body) values (1, 1, 'k_1', 'SCHEDULED', 1767258000000, '{"location":null,"notes":null,"time":"2026-01-01T09:00:00+00:00","title":"Ferry","visible_to":["GEORGE"]}');
insert into world_message (world, number, time_ms, body) values (1, 1, 1767255300000, '{"from":"ANA","text":"Not a word.","time":"2026-01-01T08:15:00+00:00","visible_to":["ANA","GEORGE"]}');
insert into world_invocation (world, request_id, body_sha256, status, fence, lease_until, outcome, headers) values (1, 'old-1', '92db6f6091739d55c04cbc8b6219f040a86834f9f4865ea79c2f0265a062e1c6', 'DONE', 1, 1794771511697, '{"request_id":"old-1","stream":{"cursor_before":null,"cursor_after":"c1.e_rsgtucddsdrxfx3m.H9lT8YGSGfUC5-PD","entries":[{"entry_id":"e_vt2rb24jabbj367g","created_at_world":"2026-01-01T07:30:00+00:00","channel":"USER","author_label":null,"text":"The spare key is under the blue boat."},{"entry_id":"e_rsgtucddsdrxfx3m","created_at_world":"2026-01-01T07:30:00+00:00","channel":"PEOPLE","author_label":"Ana","text":"Nobody looks under the blue boat."}]},"pocket":{"is_available":true,"clock":{"world_time":"2026-01-01T07:30:00+00:00","timezone":"UTC"},"calendar":{"items":[]},"messages":{"items":[]}},"debug":{"wrote":true,"bundle_id":"b_2nixfbgwprbh4o3q"}}', '{"Verbatim-Beat-Result":"WROTE"}');
insert into world_invocation (world, request_id, body_sha256, status, fence, lease_until, outcome, headers) values (1, 'old-2', 'e59a59c21dde6489d49c9886722b4983a20bf18ff3dbbc22279c41c3aa344e1d', 'DONE', 1, 1794771511711, '{"request_id":"old-2","stream":{"cursor_before":null,"cursor_after":"c1.e_4xhtkrya5clsiwqb.IUc8x2TwGANYi_Zj","entries":[{"entry_id":"e_3x7argb3cr7rwgo2","created_at_world":"2026-01-01T08:15:00+00:00","channel":"USER","author_label":null,"text":"Where is the spare key?"},{"entry_id":"e_4xhtkrya5clsiwqb","created_at_world":"2026-01-01T08:15:00+00:00","channel":"PEOPLE","author_label":"Ben","text":"The lamp is blue too."}]},"pocket":{"is_available":true,"clock":{"world_time":"2026-01-01T08:15:00+00:00","timezone":"UTC"},"calendar":{"items":[]},"messages":{"items":[]}},"debug":{"wrote":true,"bundle_id":"b_sg3dypsauxgoxesr"}}', '{"Verbatim-Beat-Result":"WROTE"}');
insert into world_call (world, number, call_id, request_id, body) values (1, 1, '00000000-0000-4000-8000-043500010003', 'old-1', '{"call_id":"00000000-0000-4000-8000-043500010003","request_id":"old-1","pass":"ROOM","purpose":"WRITER","actor":"WORLD","view":{"kind":"room","present":["ANA","GEORGE"]},"provider":"scripted","model":null,"rules_version":"owner:76050b6862606edf","messages":[{"role":"system","content":"Write."},{"role":"user","content":"{\"reply_format\":\"verbatim.writer.v1\",\"you_write\":{\"as\":\"WORLD\",\"may_write\":[{\"channel\":\"VOICE\",\"author_id\":\"WORLD\",\"author_class\":\"WORLD\",\"name\":null},{\"channel\":\"PEOPLE\",\"author_id\":\"ANA\",\"author_class\":\"PERSON\",\"name\":\"Ana\"}]},\"scene\":\"\",\"continuity\":\"\",\"people\":[{\"name\":\"Ana\",\"lines\":\"\"}],\"present\":[{\"id\":\"ANA\",\"name\":\"Ana\"},{\"id\":\"GEORGE\",\"name\":\"George\"}],\"time\":\"2026-01-01T07:30:00+00:00\",\"recent\":[],\"opportunities\":[],\"evidence\":[],\"operator\":{\"name\":\"George\",\"text\":\"The spare key is under the blue boat.\"},\"tools\":{\"available\":true,\"names\":[\"LEDGER_SEARCH\",\"LEDGER_GET\",\"CAPSULE_GET\",\"SCENE_PACK_BUILD\"],\"calls_left\":4}}"}],"parts":[{"part":"rules","bytes":6,"tokens":2,"sha256":"76050b6862606edfa19c0bc54339d800c6f7016d89c55c539ff58d21a462d2a1","entry_ids":[]},{"part":"reply_format","bytes":20,"tokens":7,"sha256":"b70791ca6d9bd0617550dcd2395c9944b7a6921448388631a810dd7b0af83dcf","entry_ids":[]},{"part":"you_write","bytes":179,"tokens":60,"sha256":"9b00691ca94530e25e9fec7aafb53df425a6bb8585ab2bd628bebe7f82a9df22","entry_ids":[]},{"part":"scene","bytes":2,"tokens":1,"sha256":"12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126","entry_ids":[]},{"part":"continuity","bytes":2,"tokens":1,"sha256":"12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126","entry_ids":[]},{"part":"people","bytes":27,"tokens":9,"sha256":"416074b82e6d7ab2d616d3d27d34e5b28932f3cbddecf1a01e7f0ef97b89bae3","entry_ids":[]},{"part":"present","bytes":59,"tokens":20,"sha256":"c3c317b42dd629925b4dc56ce73811ae3f8073b9ca32b5c8c2920d9d9358405b","entry_ids":[]},{"part":"time","bytes":27,"tokens":9,"sha256":"828cf2bebbed02c358cdaccff04499b31614cc197643125d77ba9479fd41ed25","entry_ids":[]},{"part":"recent","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"opportunities","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"evidence","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"operator","bytes":64,"tokens":22,"sha256":"8f6c7e84b929fb6973e79d1dbf53361a2880f4c9f0eb9480a955ce6cb3b7636c","entry_ids":[]},{"part":"tools","bytes":105,"tokens":35,"sha256":"64715b03200e45bfb018bf12fed31d76145aa228561f87d0e0417003dda1cc2b","entry_ids":[]}],"raw":"{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_class\":\"PERSON\",\"author_id\":\"ANA\"},\"channel\":\"PEOPLE\",\"text\":\"Nobody looks under the blue boat.\"},{\"author\":{\"author_class\":\"WORLD\",\"author_id\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"Ana''s hands shake.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"ANA\"]}}]}}","verdict":"ACCEPTED","verdict_where":null,"lint":[],"estimated_tokens":213,"reported_input_tokens":null,"reported_output_tokens":null,"duration_ms":0}');
insert into world_call (world, number, call_id, request_id, body) values (1, 2, '00000000-0000-4000-8000-043500010005', 'old-2', '{"call_id":"00000000-0000-4000-8000-043500010005","request_id":"old-2","pass":"ROOM","purpose":"WRITER","actor":"WORLD","view":{"kind":"room","present":["BEN","GEORGE"]},"provider":"scripted","model":null,"rules_version":"owner:76050b6862606edf","messages":[{"role":"system","content":"Write."},{"role":"user","content":"{\"reply_format\":\"verbatim.writer.v1\",\"you_write\":{\"as\":\"WORLD\",\"may_write\":[{\"channel\":\"VOICE\",\"author_id\":\"WORLD\",\"author_class\":\"WORLD\",\"name\":null},{\"channel\":\"PEOPLE\",\"author_id\":\"BEN\",\"author_class\":\"PERSON\",\"name\":\"Ben\"}]},\"scene\":\"The cellar is cold.\",\"continuity\":\"\",\"people\":[{\"name\":\"Ben\",\"lines\":\"\"}],\"present\":[{\"id\":\"BEN\",\"name\":\"Ben\"},{\"id\":\"GEORGE\",\"name\":\"George\"}],\"time\":\"2026-01-01T08:15:00+00:00\",\"recent\":[],\"opportunities\":[],\"evidence\":[],\"operator\":{\"name\":\"George\",\"text\":\"Where is the spare key?\"},\"tools\":{\"available\":true,\"names\":[\"LEDGER_SEARCH\",\"LEDGER_GET\",\"CAPSULE_GET\",\"SCENE_PACK_BUILD\"],\"calls_left\":4}}"}],"parts":[{"part":"rules","bytes":6,"tokens":2,"sha256":"76050b6862606edfa19c0bc54339d800c6f7016d89c55c539ff58d21a462d2a1","entry_ids":[]},{"part":"reply_format","bytes":20,"tokens":7,"sha256":"b70791ca6d9bd0617550dcd2395c9944b7a6921448388631a810dd7b0af83dcf","entry_ids":[]},{"part":"you_write","bytes":179,"tokens":60,"sha256":"23c59b5afb755e402e192f0b222e7d392cd401c653ce7144f70dd673ac3a3cc1","entry_ids":[]},{"part":"scene","bytes":21,"tokens":7,"sha256":"0dc7fce679aedeab70f08ff85eb02efcd566cea91577de8c6f1479a93c6dfb86","entry_ids":["e_6xitditqgg2ultfs"]},{"part":"continuity","bytes":2,"tokens":1,"sha256":"12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126","entry_ids":[]},{"part":"people","bytes":27,"tokens":9,"sha256":"0feb585f0d17566fa616c5a2233a279efb3930e4ece845672c0007c4221ba319","entry_ids":[]},{"part":"present","bytes":59,"tokens":20,"sha256":"f1af8d04b23be786854e4ec88796288336d0183c0ac57a4b8207821c33a7f4c0","entry_ids":[]},{"part":"time","bytes":27,"tokens":9,"sha256":"34e9df44fcb3f93c53af300d8f025d7a6a67e435d59c05b589b854d3d4e53d3a","entry_ids":[]},{"part":"recent","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"opportunities","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"evidence","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"operator","bytes":50,"tokens":17,"sha256":"c79bf1ddb089e21a2c9f1e9e37c53c3de35f87af9036befda3040267fdbd6e32","entry_ids":[]},{"part":"tools","bytes":105,"tokens":35,"sha256":"64715b03200e45bfb018bf12fed31d76145aa228561f87d0e0417003dda1cc2b","entry_ids":[]}],"raw":"{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_class\":\"PERSON\",\"author_id\":\"BEN\"},\"channel\":\"PEOPLE\",\"text\":\"The lamp is blue too.\"},{\"author\":{\"author_class\":\"WORLD\",\"author_id\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"A second key hangs behind the blue door.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"WORLD\"]}}]}}","verdict":"ACCEPTED","verdict_where":null,"lint":[],"estimated_tokens":215,"reported_input_tokens":null,"reported_output_tokens":null,"duration_ms":0}');
insert into world_recent_terms (world, wseq, keys) values (1, 1, 't:the t:spare t:key t:is t:under t:blue t:boat v:3 v:2 a:2 
t:nobody t:looks t:under t:the t:blue t:boat v:3 v:2 a:3 
t:ana t:s t:hands t:shake v:3 a:1 
');
insert into world_recent_terms (world, wseq, keys) values (1, 4, 't:the t:cellar t:is t:cold v:4 v:2 a:1 
');
insert into world_recent_terms (world, wseq, keys) values (1, 5, 't:where t:is t:the t:spare t:key v:4 v:2 a:2 
t:the t:lamp t:is t:blue t:too v:4 v:2 a:4 
t:a t:second t:key t:hangs t:behind t:the t:blue t:door v:1 a:1 
');
CREATE TRIGGER migration_no_update before update on migration begin select raise(abort, 'migration is append-only: no update'); end;
CREATE TRIGGER migration_no_delete before delete on migration begin select raise(abort, 'migration is append-only: no delete'); end;
CREATE TRIGGER migration_no_second_version before insert on migration when exists (select 1 from migration where version = new.version) begin select raise(abort, 'migration is append-only: a row with this version exists'); end;
CREATE TRIGGER store_fact_no_update before update on store_fact begin select raise(abort, 'store_fact is append-only: no update'); end;
CREATE TRIGGER store_fact_no_delete before delete on store_fact begin select raise(abort, 'store_fact is append-only: no delete'); end;
CREATE TRIGGER store_fact_no_second_name before insert on store_fact when exists (select 1 from store_fact where name = new.name) begin select raise(abort, 'store_fact is append-only: a row with this name exists'); end;
CREATE TRIGGER ledger_entry_no_update before update on ledger_entry begin select raise(abort, 'ledger_entry is append-only: no update'); end;
CREATE TRIGGER ledger_entry_no_delete before delete on ledger_entry begin select raise(abort, 'ledger_entry is append-only: no delete'); end;
CREATE TRIGGER ledger_entry_next before insert on ledger_entry when
  new.idx is not (select coalesce(max(idx) + 1, 0) from ledger_entry)
  or new.position is not (select coalesce(max(position) + 1, 0) from ledger_entry where stream = new.stream)
  or new.previous is not coalesce(
    (select hash from ledger_entry where stream = new.stream and position = new.position - 1), '0000000000000000000000000000000000000000000000000000000000000000')
  or exists (select 1 from ledger_entry where hash = new.hash) begin select raise(abort, 'ledger_entry: not the next entry of its stream and of the ledger, or there already'); end;
CREATE TRIGGER jobs_job_no_update before update on jobs_job begin select raise(abort, 'jobs_job is append-only: no update'); end;
CREATE TRIGGER jobs_job_no_delete before delete on jobs_job begin select raise(abort, 'jobs_job is append-only: no delete'); end;
CREATE TRIGGER jobs_job_no_second_number before insert on jobs_job when exists (select 1 from jobs_job where number = new.number) begin select raise(abort, 'jobs_job is append-only: a row with this number exists'); end;
CREATE TRIGGER jobs_job_no_second_job_id before insert on jobs_job when exists (select 1 from jobs_job where job_id = new.job_id) begin select raise(abort, 'jobs_job is append-only: a row with this job_id exists'); end;
CREATE TRIGGER jobs_job_no_second_message_id before insert on jobs_job when exists (select 1 from jobs_job where message_id = new.message_id) begin select raise(abort, 'jobs_job is append-only: a row with this message_id exists'); end;
CREATE TRIGGER jobs_receipt_no_update before update on jobs_receipt begin select raise(abort, 'jobs_receipt is append-only: no update'); end;
CREATE TRIGGER jobs_receipt_no_delete before delete on jobs_receipt begin select raise(abort, 'jobs_receipt is append-only: no delete'); end;
CREATE TRIGGER jobs_receipt_no_second_step_id before insert on jobs_receipt when exists (select 1 from jobs_receipt where step_id = new.step_id) begin select raise(abort, 'jobs_receipt is append-only: a row with this step_id exists'); end;
CREATE TRIGGER jobs_receipt_no_second_job_id_ordinal before insert on jobs_receipt when exists (select 1 from jobs_receipt where job_id = new.job_id and ordinal = new.ordinal) begin select raise(abort, 'jobs_receipt is append-only: a row with this job_id, ordinal exists'); end;
CREATE TRIGGER jobs_receipt_of_leased before insert on jobs_receipt when not coalesce(new.status in ('SUCCESS', 'FAILURE')
    and json_extract(new.receipt, '$.status') is new.status and json_extract(new.receipt, '$.step_id') is new.step_id
    and exists (select 1 from jobs_step where step_id = new.step_id
      and job_id = new.job_id and ordinal = new.ordinal and status = 'LEASED'), 0) begin select raise(abort, 'jobs_receipt: not the receipt of a leased step'); end;
CREATE TRIGGER jobs_job_opens after insert on jobs_job
begin insert into jobs_open (number, job_id) values (new.number, new.job_id); end;
CREATE TRIGGER jobs_open_no_update before update on jobs_open begin select raise(abort, 'jobs_open: no update'); end;
CREATE TRIGGER jobs_open_insert before insert on jobs_open when exists (select 1 from jobs_open where number = new.number or job_id = new.job_id)
    or not exists (select 1 from jobs_job where number = new.number and job_id = new.job_id) or (exists (select 1 from jobs_step where job_id = new.job_id and status = 'FAILED')
  or exists (select 1 from jobs_step where job_id = new.job_id and status = 'COMMITTED'
    and ordinal = (select step_count from jobs_job where job_id = new.job_id))) begin select raise(abort, 'jobs_open: not a job that was just made'); end;
CREATE TRIGGER jobs_open_delete before delete on jobs_open when not (exists (select 1 from jobs_step where job_id = old.job_id and status = 'FAILED')
  or exists (select 1 from jobs_step where job_id = old.job_id and status = 'COMMITTED'
    and ordinal = (select step_count from jobs_job where job_id = old.job_id))) begin select raise(abort, 'jobs_open: the job is not finished'); end;
CREATE TRIGGER jobs_step_no_delete before delete on jobs_step begin select raise(abort, 'jobs_step: no delete'); end;
CREATE TRIGGER jobs_step_planned before insert on jobs_step when not coalesce(new.status is 'PENDING' and new.fencing_token is 0
    and new.lease_owner is null and new.lease_expires_ms is null and new.touched_ms is null
    and new.ordinal is (select coalesce(max(ordinal), 0) + 1 from jobs_step where job_id = new.job_id)
    and new.ordinal <= (select step_count from jobs_job where job_id = new.job_id)
    and not exists (select 1 from jobs_step where step_id = new.step_id), 0) begin select raise(abort, 'jobs_step: not the next planned step of its job'); end;
CREATE TRIGGER jobs_step_frozen before update on jobs_step when new.job_id is not old.job_id or new.ordinal is not old.ordinal or new.step_id is not old.step_id or new.op is not old.op or new.step is not old.step or new.resolved is not old.resolved begin select raise(abort, 'jobs_step: what was planned is frozen'); end;
CREATE TRIGGER jobs_step_no_way_back before update on jobs_step when new.status is 'PENDING' begin select raise(abort, 'jobs_step: no way back to PENDING'); end;
CREATE TRIGGER jobs_step_lease before update on jobs_step when new.status is 'LEASED' and not coalesce((new.fencing_token is old.fencing_token + 1 and new.lease_owner is not null and new.lease_expires_ms > new.touched_ms
  and (old.status is 'PENDING' or (old.status is 'LEASED' and old.lease_expires_ms <= new.touched_ms))) or (old.status is 'LEASED' and new.lease_owner is old.lease_owner
  and new.fencing_token is old.fencing_token and new.touched_ms < old.lease_expires_ms and new.lease_owner is not null and new.lease_expires_ms > new.touched_ms), 0) begin select raise(abort, 'jobs_step: neither a claim nor a renewal'); end;
CREATE TRIGGER jobs_step_settle before update on jobs_step when new.status in ('COMMITTED', 'FAILED') and not coalesce((old.status is 'LEASED' and new.lease_owner is old.lease_owner
  and new.fencing_token is old.fencing_token and new.touched_ms < old.lease_expires_ms and new.lease_expires_ms is old.lease_expires_ms
  and not exists (select 1 from jobs_step
  where job_id = old.job_id and status = 'PENDING' and ordinal < old.ordinal) and not exists (select 1 from jobs_step
  where job_id = old.job_id and status = 'LEASED' and ordinal < old.ordinal) and not exists (select 1 from jobs_step
  where job_id = old.job_id and status = 'FAILED' and ordinal < old.ordinal)
  and exists (select 1 from jobs_receipt where step_id = old.step_id
    and status is case new.status when 'COMMITTED' then 'SUCCESS' else 'FAILURE' end)
  and (new.status is 'FAILED'
    or coalesce(old.ordinal < (select breach_ordinal from jobs_job where job_id = old.job_id), 1))), 0) begin select raise(abort, 'jobs_step: this step cannot end so now'); end;
CREATE TRIGGER jobs_step_closes after update on jobs_step
when new.status is 'FAILED' or (new.status is 'COMMITTED'
  and new.ordinal is (select step_count from jobs_job where job_id = new.job_id))
begin delete from jobs_open where job_id = new.job_id; end;
CREATE TRIGGER world_person_no_delete before delete on world_person begin select raise(abort, 'world_person: people are never deleted'); end;
CREATE TRIGGER world_person_only_name before update on world_person when new.world is not old.world or new.number is not old.number or new.person_id is not old.person_id begin select raise(abort, 'world_person: only the display name can change'); end;
CREATE TRIGGER world_entry_no_update before update on world_entry begin select raise(abort, 'world_entry is append-only: no update'); end;
CREATE TRIGGER world_entry_no_delete before delete on world_entry begin select raise(abort, 'world_entry is append-only: no delete'); end;
CREATE TRIGGER world_entry_no_second_world_entry_id before insert on world_entry when exists (select 1 from world_entry where world = new.world and entry_id = new.entry_id) begin select raise(abort, 'world_entry is append-only: a row with this world, entry_id exists'); end;
CREATE TRIGGER world_entry_next before insert on world_entry when
  new.wseq is not (select coalesce(max(wseq) + 1, 1) from world_entry where world = new.world)
  or new.created_ms < (select created_ms from world_entry where world = new.world and wseq = new.wseq - 1) begin select raise(abort, 'world_entry: not the next entry of its world, or before the last one in time'); end;
CREATE TRIGGER world_entry_visible_no_update before update on world_entry_visible begin select raise(abort, 'world_entry_visible is append-only: no update'); end;
CREATE TRIGGER world_entry_visible_no_delete before delete on world_entry_visible begin select raise(abort, 'world_entry_visible is append-only: no delete'); end;
CREATE TRIGGER world_entry_visible_no_second_world_person_wseq before insert on world_entry_visible when exists (select 1 from world_entry_visible where world = new.world and person = new.person and wseq = new.wseq) begin select raise(abort, 'world_entry_visible is append-only: a row with this world, person, wseq exists'); end;
CREATE TRIGGER world_calendar_no_delete before delete on world_calendar begin select raise(abort, 'world_calendar: items are never deleted'); end;
CREATE TRIGGER world_calendar_only_state before update on world_calendar when new.world is not old.world or new.number is not old.number
  or new.item_id is not old.item_id or new.time_ms is not old.time_ms or new.body is not old.body begin select raise(abort, 'world_calendar: only the state can change'); end;
CREATE TRIGGER world_message_no_update before update on world_message begin select raise(abort, 'world_message is append-only: no update'); end;
CREATE TRIGGER world_message_no_delete before delete on world_message begin select raise(abort, 'world_message is append-only: no delete'); end;
CREATE TRIGGER world_message_no_second_world_number before insert on world_message when exists (select 1 from world_message where world = new.world and number = new.number) begin select raise(abort, 'world_message is append-only: a row with this world, number exists'); end;
CREATE TRIGGER world_invocation_no_delete before delete on world_invocation begin select raise(abort, 'world_invocation: rows are never deleted'); end;
CREATE TRIGGER world_invocation_done before update on world_invocation when old.status = 'DONE' begin select raise(abort, 'world_invocation: what is done stays as it is'); end;
CREATE TRIGGER ledger_piece_no_update before update on ledger_piece begin select raise(abort, 'ledger_piece is append-only: no update'); end;
CREATE TRIGGER ledger_piece_no_delete before delete on ledger_piece begin select raise(abort, 'ledger_piece is append-only: no delete'); end;
CREATE TRIGGER ledger_piece_no_second_name before insert on ledger_piece when exists (select 1 from ledger_piece where name = new.name) begin select raise(abort, 'ledger_piece is append-only: a row with this name exists'); end;
pragma application_id = 1448231501;
pragma user_version = 8;
