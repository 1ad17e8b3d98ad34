/**
 * Functions that read ABI values on Postgres; they stand beside the views and are made with them.
 * Positions count from
 * 0. NULL means: the bytes do not hold such a value. None raises an error, whatever the bytes are,
 * and the work is
 * bounded by their length: elements of an array lie one behind the other and share nothing, as
 * Solidity writes them.
 */
import { MARK, REPLACED } from '#transform/abi/argumentText.ts'

/** The statements, in order. `schema` is quoted. */
export const abiFunctionStatements = (schema: string): string[] =>
  [size, slice, tail, bytes, uint, string, wordJson, sequenceJson, tupleJson, json, ...words].map(
    (statement) => statement.replaceAll('{schema}', schema),
  )

/** A length or offset. */
const size = `CREATE FUNCTION {schema}.abi_size(region bytea, at integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length(region) >= at + 32 AND substr(region, at + 1, 28) = '\\x${'00'.repeat(28)}'::bytea
    THEN substr(region, at + 29, 4)::bigint END`

const slice = `CREATE FUNCTION {schema}.abi_slice(region bytea, at integer, length integer) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length(region) >= at + length THEN substr(region, at + 1, length) END`

/** The bytes that the offset at \`at\` points to, up to the end of the region. */
const tail = `CREATE FUNCTION {schema}.abi_tail(region bytea, at integer) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN {schema}.abi_size(region, at) <= octet_length(region)
    THEN substr(region, {schema}.abi_size(region, at)::integer + 1) END`

const bytes = `CREATE FUNCTION {schema}.abi_bytes(region bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN {schema}.abi_size(region, 0) + 32 <= octet_length(region)
    THEN substr(region, 33, {schema}.abi_size(region, 0)::integer) END`

/** A word as a number. Most amounts fit seven bytes, and nearly all fourteen. */
const uint = `CREATE FUNCTION {schema}.abi_uint(word bytea) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN substr(word, 1, 25) = '\\x${'00'.repeat(25)}'::bytea THEN substr(word, 26, 7)::bigint::numeric
    WHEN substr(word, 1, 18) = '\\x${'00'.repeat(18)}'::bytea
    THEN substr(word, 19, 7)::bigint::numeric * 72057594037927936 + substr(word, 26, 7)::bigint
    ELSE (((substr(word, 1, 4)::bigint::numeric * 72057594037927936 + substr(word, 5, 7)::bigint) * 72057594037927936
      + substr(word, 12, 7)::bigint) * 72057594037927936 + substr(word, 19, 7)::bigint) * 72057594037927936
      + substr(word, 26, 7)::bigint END`

/** Functions that users call `abi_uint` and so on: of a word of 32 bytes, NULL of any other. */
const words = [
  ['uint', 'numeric', '{schema}.abi_uint(word)'],
  [
    'int',
    'numeric',
    `{schema}.abi_uint(word) - CASE WHEN get_byte(word, 0) < 128 THEN 0 ELSE ${2n ** 256n} END`,
  ],
  [
    'address',
    'bytea',
    `CASE WHEN substr(word, 1, 12) = '\\x${'00'.repeat(12)}'::bytea THEN substr(word, 13) END`,
  ],
  ['bool', 'boolean', 'CASE {schema}.abi_uint(word) WHEN 0 THEN false WHEN 1 THEN true END'],
].map(
  ([name, type, value]) =>
    `CREATE FUNCTION {schema}.word_${name}(word bytea) RETURNS ${type} LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length(word) = 32 THEN ${value} END`,
)

/**
 * The rule of argumentText.ts. Leading ASCII characters are found in hex, since no text has a NUL.
 */
const string = `CREATE FUNCTION {schema}.abi_string(region bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $function$
DECLARE
  content bytea := {schema}.abi_bytes(region);
  told text;
  ascii integer;
BEGIN
  IF position('\\x00'::bytea IN content) = 0 THEN
    BEGIN
      told := convert_from(content, 'UTF8');
      RETURN CASE WHEN position('${MARK}' IN told) = 0 THEN told
        ELSE regexp_replace(told, '^([\\u0001-\\u007f]*)(${REPLACED}+0x)', '\\1${REPLACED}\\2') END;
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
      NULL;
    END;
  END IF;
  ascii := length(substring(encode(content, 'hex') FROM '^(?:0[1-9a-f]|[1-7][0-9a-f])*')) / 2;
  RETURN convert_from(substr(content, 1, ascii), 'UTF8') || '${MARK}' || encode(substr(content, ascii + 1), 'hex');
END $function$`

const wordJson = `CREATE FUNCTION {schema}.abi_word_json(type jsonb, word bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  kind text := type->>'kind';
  padding integer;
  number numeric;
  is_negative boolean := false;
BEGIN
  IF octet_length(word) < 32 THEN RETURN NULL; END IF;
  IF kind = 'address' THEN
    IF substr(word, 1, 12) <> '\\x${'00'.repeat(12)}'::bytea THEN RETURN NULL; END IF;
    RETURN to_jsonb('0x' || encode(substr(word, 13, 20), 'hex'));
  ELSIF kind = 'fixedBytes' THEN
    padding := (type->>'width')::integer;
    IF ltrim(substr(word, padding + 1), '\\x00'::bytea) <> ''::bytea THEN RETURN NULL; END IF;
    RETURN to_jsonb('0x' || encode(substr(word, 1, padding), 'hex'));
  ELSIF kind = 'bool' THEN
    RETURN CASE {schema}.abi_uint(word) WHEN 0 THEN 'false'::jsonb WHEN 1 THEN 'true'::jsonb END;
  END IF;
  padding := 32 - (type->>'bits')::integer / 8;
  IF kind = 'int' THEN is_negative := get_byte(word, padding) >= 128; END IF;
  IF padding > 0 AND ltrim(substr(word, 1, padding), CASE WHEN is_negative THEN '\\xff'::bytea ELSE '\\x00'::bytea END) <> ''::bytea
    THEN RETURN NULL; END IF;
  number := {schema}.abi_uint(word);
  IF is_negative THEN number := number - ${2n ** 256n}; END IF;
  RETURN CASE WHEN (type->>'isNumber')::boolean THEN to_jsonb(number) ELSE to_jsonb(number::text) END;
END $function$`

/** \`count\` values of one type in a row, from the start of the region. */
const sequenceJson = `CREATE FUNCTION {schema}.abi_sequence_json(element jsonb, region bytea, count bigint) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  size integer := (element->>'size')::integer;
  bytes_held integer := octet_length(region);
  is_static boolean := element ? 'size';
  is_word boolean := is_static AND element->>'kind' NOT IN ('tuple', 'list');
  items jsonb[] := '{}';
  item jsonb;
  start bigint;
  next_start bigint;
BEGIN
  IF NOT is_static THEN
    bytes_held := bytes_held - bytes_held % 32;
    size := 32;
  END IF;
  IF count * size > bytes_held THEN RETURN NULL; END IF;
  start := {schema}.abi_size(region, 0);
  IF NOT is_static AND count > 0 AND start IS DISTINCT FROM count * 32 THEN RETURN NULL; END IF;
  FOR index IN 0 .. count::integer - 1 LOOP
    IF is_word THEN
      item := {schema}.abi_word_json(element, substr(region, index * 32 + 1, 32));
    ELSIF is_static THEN
      item := {schema}.abi_json(element, substr(region, index * size + 1, size));
    ELSE
      next_start := CASE WHEN index = count - 1 THEN bytes_held ELSE {schema}.abi_size(region, (index + 1) * 32) END;
      IF next_start IS NULL OR next_start <= start OR next_start > bytes_held OR start % 32 > 0 THEN RETURN NULL; END IF;
      item := {schema}.abi_json(element, substr(region, start::integer + 1, (next_start - start)::integer));
      start := next_start;
    END IF;
    IF item IS NULL THEN RETURN NULL; END IF;
    items := items || item;
  END LOOP;
  RETURN to_jsonb(items);
END $function$`

const tupleJson = `CREATE FUNCTION {schema}.abi_tuple_json(type jsonb, region bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  components jsonb := type->'components';
  component jsonb;
  item jsonb;
  items jsonb[] := '{}';
  entries jsonb := '{}';
  at integer := 0;
BEGIN
  IF octet_length(region) < (type->>'head')::integer THEN RETURN NULL; END IF;
  FOR index IN 0 .. jsonb_array_length(components) - 1 LOOP
    component := components->index;
    IF component ? 'size' THEN
      item := {schema}.abi_json(component, substr(region, at + 1, (component->>'size')::integer));
      at := at + (component->>'size')::integer;
    ELSE
      item := {schema}.abi_json(component, {schema}.abi_tail(region, at));
      at := at + 32;
    END IF;
    IF item IS NULL THEN RETURN NULL; END IF;
    IF type ? 'names' THEN entries := entries || jsonb_build_object(type->'names'->>index, item);
    ELSE items := items || item;
    END IF;
  END LOOP;
  RETURN CASE WHEN type ? 'names' THEN entries ELSE to_jsonb(items) END;
END $function$`

/** A value whose encoding starts the region. */
const json = `CREATE FUNCTION {schema}.abi_json(type jsonb, region bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  kind text := type->>'kind';
BEGIN
  IF kind = 'tuple' THEN
    RETURN {schema}.abi_tuple_json(type, region);
  ELSIF kind = 'list' AND type ? 'length' THEN
    RETURN {schema}.abi_sequence_json(type->'element', region, (type->>'length')::bigint);
  ELSIF kind = 'list' THEN
    RETURN {schema}.abi_sequence_json(type->'element', substr(region, 33), {schema}.abi_size(region, 0));
  ELSIF kind = 'string' THEN
    RETURN to_jsonb({schema}.abi_string(region));
  ELSIF kind = 'bytes' THEN
    RETURN to_jsonb('0x' || encode({schema}.abi_bytes(region), 'hex'));
  END IF;
  RETURN {schema}.abi_word_json(type, region);
END $function$`
