-- {"format":1,"madeBy":"0.1.0","databases":1}
CREATE TABLE meta (name text primary key, value text);
CREATE TABLE lease (partition integer primary key, epoch integer not null, step integer not null default 0, folded integer not null default 0, owner text);
CREATE TABLE fence (held integer not null check (held = 1));
CREATE TABLE log (
    place integer primary key,
    rest integer not null,
    rows text not null,
    bytes blob,
    held integer not null check (held = 1)
  , sum integer);
CREATE TABLE invocation (
    id text primary key,
    partition integer not null,
    status text not null,
    expires_at integer,
    body text not null,
    output blob,
    service text as (body ->> '$.target.service') virtual,
    handler text as (body ->> '$.target.handler') virtual,
    key text as (body ->> '$.target.key') virtual,
    modified_at integer as (body ->> '$.modifiedAt') virtual
  , created_at integer, large text, queue text as (body ->> '$.status.queue') virtual, queue_seq integer as (body ->> '$.status.seq') virtual, subscription text);
CREATE INDEX invocation_invoked on invocation (partition, id) where status = 'invoked';
CREATE INDEX invocation_expires on invocation (partition, expires_at, id)
    where expires_at is not null;
CREATE TABLE journal (
    id text not null,
    first integer not null,
    entries text not null,
    bytes blob not null, large text,
    primary key (id, first)
  );
CREATE TABLE lock (
    object text primary key,
    holder text not null,
    head integer not null,
    tail integer not null
  ) without rowid;
CREATE TABLE inbox (
    object text not null,
    seq integer not null,
    id text not null, edit text,
    primary key (object, seq)
  ) without rowid;
CREATE TABLE state (
    object text not null,
    name text not null,
    value blob not null, large text,
    primary key (object, name)
  );
CREATE TABLE timer (
    partition integer not null,
    due integer not null,
    id text not null,
    kind text not null,
    idx integer not null,
    primary key (partition, due, id, kind, idx)
  ) without rowid;
CREATE INDEX timer_id on timer (id);
CREATE TABLE deployment (id text primary key, body text not null);
CREATE TABLE promise (
    object text not null,
    name text not null,
    body text not null,
    value blob,
    service text as (substr(object, 1, instr(object, '/') - 1)) virtual,
    key text as (substr(object, instr(object, '/') + 1)) virtual,
    result text as (body ->> '$.result.kind') virtual, large text,
    primary key (object, name)
  );
CREATE TABLE event (
    id text not null,
    seq integer not null,
    body text not null,
    at integer as (body ->> '$.at') virtual,
    kind text as (body ->> '$.kind') virtual,
    primary key (id, seq)
  );
CREATE INDEX invocation_created on invocation (created_at);
CREATE INDEX invocation_open on invocation (status) where status <> 'completed';
CREATE TABLE outbox (
    peer text not null,
    seq integer not null,
    body text not null,
    value blob, large text,
    primary key (peer, seq)
  );
CREATE TABLE peer (
    peer text primary key,
    sent integer not null,
    heard integer not null
  ) without rowid;
CREATE TABLE node (
    id text primary key,
    address text not null,
    beat integer not null
  , unreached text not null default '') without rowid;
CREATE TABLE large_piece (
    id text not null,
    seq integer not null,
    bytes blob not null,
    sum integer not null,
    held integer not null check (held = 1),
    primary key (id, seq)
  );
CREATE TABLE large_unused (id text primary key) without rowid;
CREATE INDEX invocation_large on invocation (large ->> 0) where large is not null;
CREATE INDEX journal_large on journal (large ->> 0) where large is not null;
CREATE INDEX state_large on state (large ->> 0) where large is not null;
CREATE INDEX promise_large on promise (large ->> 0) where large is not null;
CREATE INDEX outbox_large on outbox (large ->> 0) where large is not null;
CREATE VIEW whole_invocation as select id, partition, status, expires_at, body, service, handler, key, modified_at, created_at,
    case when large is null then output else (
      select substr(cast(group_concat(p.bytes, '') as blob), 1 + (large ->> 1), large ->> 2)
      from (select bytes from large_piece where id = large ->> 0 order by seq) as p
    ) end as output,
    coalesce(large ->> 2, octet_length(output)) as size
    from invocation;
CREATE VIEW whole_journal as select id, first, entries,
    case when large is null then bytes else (
      select substr(cast(group_concat(p.bytes, '') as blob), 1 + (large ->> 1), large ->> 2)
      from (select bytes from large_piece where id = large ->> 0 order by seq) as p
    ) end as bytes,
    coalesce(large ->> 2, octet_length(bytes)) as size
    from journal;
CREATE VIEW whole_state as select object, name,
    case when large is null then value else (
      select substr(cast(group_concat(p.bytes, '') as blob), 1 + (large ->> 1), large ->> 2)
      from (select bytes from large_piece where id = large ->> 0 order by seq) as p
    ) end as value,
    coalesce(large ->> 2, octet_length(value)) as size
    from state;
CREATE VIEW whole_promise as select object, name, body, service, key, result,
    case when large is null then value else (
      select substr(cast(group_concat(p.bytes, '') as blob), 1 + (large ->> 1), large ->> 2)
      from (select bytes from large_piece where id = large ->> 0 order by seq) as p
    ) end as value,
    coalesce(large ->> 2, octet_length(value)) as size
    from promise;
CREATE VIEW whole_outbox as select peer, seq, body,
    case when large is null then value else (
      select substr(cast(group_concat(p.bytes, '') as blob), 1 + (large ->> 1), large ->> 2)
      from (select bytes from large_piece where id = large ->> 0 order by seq) as p
    ) end as value,
    coalesce(large ->> 2, octet_length(value)) as size
    from outbox;
CREATE INDEX invocation_queued on invocation (partition, queue, queue_seq)
    where status = 'queued';
CREATE INDEX invocation_holding on invocation (partition, id)
    where status = 'backingOff' and (body ->> '$.status.holds') = 1;
CREATE TABLE bucket (
    counter text primary key,
    partition integer not null,
    tokens integer not null,
    at integer not null,
    full_at integer not null
  ) without rowid;
CREATE INDEX bucket_full on bucket (partition, full_at, counter);
CREATE TABLE rule (pattern text primary key, body text not null) without rowid;
CREATE TABLE control (
    kind text not null,
    name text not null,
    body text not null,
    primary key (kind, name)
  ) without rowid;
CREATE TABLE share (share text primary key, body text not null) without rowid;
CREATE TABLE bank (counter text primary key, body text not null) without rowid;
CREATE TABLE source (source text primary key, body text not null) without rowid;
CREATE INDEX invocation_ingested on invocation (partition, id, subscription)
    where subscription is not null and status <> 'completed';
CREATE TABLE kafka_report (
    member text not null,
    subscription text not null,
    at integer not null,
    body text not null,
    primary key (member, subscription)
  );
CREATE INDEX invocation_letters on invocation (partition, id)
    where status = 'paused' and subscription is not null;
CREATE TABLE audit (id text primary key, body text not null) without rowid;
CREATE TRIGGER invocation_large_replaced after update of large on invocation
    when old.large is not null and old.large is not new.large begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER invocation_large_dropped after delete on invocation
    when old.large is not null begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER journal_large_replaced after update of large on journal
    when old.large is not null and old.large is not new.large begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER journal_large_dropped after delete on journal
    when old.large is not null begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER state_large_replaced after update of large on state
    when old.large is not null and old.large is not new.large begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER state_large_dropped after delete on state
    when old.large is not null begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER promise_large_replaced after update of large on promise
    when old.large is not null and old.large is not new.large begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER promise_large_dropped after delete on promise
    when old.large is not null begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER outbox_large_replaced after update of large on outbox
    when old.large is not null and old.large is not new.large begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
CREATE TRIGGER outbox_large_dropped after delete on outbox
    when old.large is not null begin insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0); end;
insert into meta values ('deployments', '1');
insert into meta values ('format', '18');
insert into meta values ('databases', 'one');
insert into meta values ('partitions', '1');
insert into lease values (0, 1, 0, 0, NULL);
insert into log values (1, 0, '[["invocation",{"id":"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM","target":{"service":"Counter","handler":"add","key":"kept","type":"virtual_object","access":"exclusive"},"status":{"kind":"invoked"},"origin":{"by":"ingress"},"attempt":1,"heard":0,"journal":1,"commands":1,"failures":0,"failuresSinceCommand":0,"callers":[],"retention":{"resultMs":86400000,"journalMs":86400000},"createdAt":1795708938818,"modifiedAt":1795708938818,"runningAt":1795708938818},null,""],["journal",{"index":0,"at":1795708938818,"kind":"input","headers":[["x-restate-ingress-path","/svc/call/Counter/kept/add"],["content-type","application/json"],["accept","*/*"],["accept-language","*"],["sec-fetch-mode","cors"],["user-agent","node"],["accept-encoding","gzip, deflate"],["content-length","2"]],"size":2},2,"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM"],["lock",{"object":"Counter/kept","holder":"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM","head":0,"tail":0},null,""]]', X'3432', 1, 1690344555);
insert into log values (2, 0, '[["invocation",{"id":"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM","target":{"service":"Counter","handler":"add","key":"kept","type":"virtual_object","access":"exclusive"},"status":{"kind":"invoked"},"origin":{"by":"ingress"},"attempt":1,"heard":1,"journal":2,"commands":2,"failures":0,"failuresSinceCommand":0,"pin":{"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","protocol":6},"callers":[],"retention":{"resultMs":86400000,"journalMs":86400000},"createdAt":1795708938818,"modifiedAt":1795708938829,"runningAt":1795708938818},null,""],["journal",{"index":1,"at":1795708938829,"kind":"command","type":1031,"size":9},9,"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM"]]', X'0A0576616C75656A00', 1, 2474141893);
insert into log values (3, 0, '[["invocation",{"id":"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM","target":{"service":"Counter","handler":"add","key":"kept","type":"virtual_object","access":"exclusive"},"status":{"kind":"completed"},"origin":{"by":"ingress"},"attempt":1,"heard":3,"journal":4,"commands":4,"failures":0,"failuresSinceCommand":0,"pin":{"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","protocol":6},"callers":[],"retention":{"resultMs":86400000,"journalMs":86400000},"createdAt":1795708938818,"modifiedAt":1795708938831,"runningAt":1795708938818,"completedAt":1795708938831,"expiresAt":1795795338831},2,""],["journal",{"index":2,"at":1795708938831,"kind":"command","type":1027,"size":13},13,"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM"],["journal",{"index":3,"at":1795708938831,"kind":"command","type":1025,"size":6},6,"inv_1gG0J3xE7NEK0354mL8CFN5dHNdeBUAKjM"],["lock",["Counter/kept",""]],["state",{"object":"Counter/kept","name":"value"},2,""]]', X'34320A0576616C75651A040A02343272040A0234323432', 1, 1171076445);
insert into log values (4, 0, '[["invocation",{"id":"inv_1gG0J3xE7NEK71Xor391F0wNEmumrUa22O","target":{"service":"Greeter","handler":"greet","type":"service","access":"none"},"status":{"kind":"scheduled","at":4949308938836},"origin":{"by":"ingress"},"attempt":1795708938836,"heard":0,"journal":1,"commands":1,"failures":0,"failuresSinceCommand":0,"callers":[],"idempotencyKey":"kept","retention":{"resultMs":86400000,"journalMs":86400000},"createdAt":1795708938836,"modifiedAt":1795708938836,"scheduledAt":4949308938836},null,""],["journal",{"index":0,"at":1795708938836,"kind":"input","headers":[["x-restate-ingress-path","/svc/send/Greeter/greet?delay=36500d"],["content-type","application/json"],["accept","*/*"],["accept-language","*"],["sec-fetch-mode","cors"],["user-agent","node"],["accept-encoding","gzip, deflate"],["content-length","5"]],"size":5},5,"inv_1gG0J3xE7NEK71Xor391F0wNEmumrUa22O"],["timer",{"id":"inv_1gG0J3xE7NEK71Xor391F0wNEmumrUa22O","due":4949308938836,"kind":"start","index":0},null,""]]', X'2241646122', 1, 225478009);
insert into deployment values ('dp_10Dr8zJVmd29C6iY1djqw25', '{"id":"dp_10Dr8zJVmd29C6iY1djqw25","uri":"http://127.0.0.1:12337/","mode":"bidi","httpVersion":"HTTP/2.0","dialect":"restate","additionalHeaders":{},"minProtocol":5,"maxProtocol":7,"sdkVersion":"restate-sdk-typescript/1.17.2","metadata":{},"createdAt":1795708938800,"services":[{"name":"Greeter","type":"service","public":true,"options":{},"handlers":{"busy":{"name":"busy","access":"none","public":true,"options":{"inactivityTimeoutMs":100,"abortTimeoutMs":100},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"greet":{"name":"greet","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"nothing":{"name":"nothing","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"refuse":{"name":"refuse","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"flaky":{"name":"flaky","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"flakyStep":{"name":"flakyStep","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"refuseStep":{"name":"refuseStep","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"steps":{"name":"steps","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"hang":{"name":"hang","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"nap":{"name":"nap","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"naps":{"name":"naps","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"fan":{"name":"fan","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"callRefused":{"name":"callRefused","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"callCounter":{"name":"callCounter","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"race":{"name":"race","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"relay":{"name":"relay","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"note":{"name":"note","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"random":{"name":"random","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"headers":{"name":"headers","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"bytes":{"name":"bytes","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/octet-stream"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/octet-stream"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1},{"name":"Counter","type":"virtual_object","public":true,"options":{},"handlers":{"busy":{"name":"busy","access":"exclusive","public":true,"options":{"inactivityTimeoutMs":100,"abortTimeoutMs":100},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"add":{"name":"add","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"slowAdd":{"name":"slowAdd","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"append":{"name":"append","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"clear":{"name":"clear","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"hold":{"name":"hold","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"get":{"name":"get","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"words":{"name":"words","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"keys":{"name":"keys","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"meet":{"name":"meet","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1},{"name":"Lazy","type":"virtual_object","public":true,"options":{"lazyState":true},"handlers":{"put":{"name":"put","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"take":{"name":"take","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"keys":{"name":"keys","access":"exclusive","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1},{"name":"Inner","type":"service","public":false,"options":{},"handlers":{"echo":{"name":"echo","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"hidden":{"name":"hidden","access":"none","public":false,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1},{"name":"Waiter","type":"service","public":true,"options":{},"handlers":{"awakeables":{"name":"awakeables","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"resolve":{"name":"resolve","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"reject":{"name":"reject","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"signals":{"name":"signals","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"sendSignal":{"name":"sendSignal","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"cleanup":{"name":"cleanup","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"draw":{"name":"draw","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"callNap":{"name":"callNap","access":"none","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1},{"name":"Flow","type":"workflow","public":true,"options":{},"handlers":{"run":{"name":"run","access":"run","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"resolve":{"name":"resolve","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"reject":{"name":"reject","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"peek":{"name":"peek","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"wait":{"name":"wait","access":"shared","public":true,"options":{},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1},{"name":"Fragile","type":"service","public":true,"options":{},"handlers":{"pauses":{"name":"pauses","access":"none","public":true,"options":{"retry":{"initialIntervalMs":20,"maxAttempts":2,"onMaxAttempts":"pause"}},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}},"fails":{"name":"fails","access":"none","public":true,"options":{"retry":{"initialIntervalMs":20,"maxAttempts":2,"onMaxAttempts":"kill"}},"input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}},"deployment":"dp_10Dr8zJVmd29C6iY1djqw25","revision":1}]}');
insert into audit values ('0mwxqqkvp-0000-d6599f36d5b929b3', '{"at":1795708938805,"identity":"none","method":"POST","status":201,"remoteAddress":"127.0.0.1","route":"/deployments","target":{"created":"deployments/dp_10Dr8zJVmd29C6iY1djqw25"}}');
