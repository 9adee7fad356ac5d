"""Strict JSON, and the part of JSON Schema that docs/answers.schema.json uses."""
import json
import re

TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "integer": int, "number": (int, float)}
KEYWORDS = {"$schema", "$id", "$defs", "title", "type", "properties", "required", "additionalProperties", "items", "maxItems", "$ref", "enum",
            "const", "minimum", "maximum", "pattern"}


def no_repetition(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("repeated keys: %s" % sorted(keys))
    return dict(pairs)


def no_constant(name):
    raise ValueError("%s is no JSON" % name)


def read(text):
    """The value of a JSON text that has each key once and only finite numbers."""
    return json.loads(text, object_pairs_hook=no_repetition, parse_constant=no_constant)


def is_a(value, name):
    return isinstance(value, TYPES[name]) and not isinstance(value, bool)


def complaints(value, schema, root, at="$"):
    """Where the value differs from the schema; an empty list: nowhere."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    unknown = set(schema) - KEYWORDS
    if unknown:
        return ["the schema of %s has %s, which this reader does not know" % (at, sorted(unknown))]
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_a(value, name) for name in names):
        return ["%s is %r, not %s" % (at, value, " or ".join(names))]
    found = []
    if "const" in schema and value != schema["const"]:
        found.append("%s is %r" % (at, value))
    if "enum" in schema and value not in schema["enum"]:
        found.append("%s is %r" % (at, value))
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append("%s is %r" % (at, value))
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append("%s is %r" % (at, value))
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += ["%s has no %s" % (at, key) for key in schema.get("required", []) if key not in value]
        for key, each in value.items():
            if key in properties:
                found += complaints(each, properties[key], root, "%s.%s" % (at, key))
            elif schema.get("additionalProperties", True) is False:
                found.append("%s has an unknown %s" % (at, key))
            elif isinstance(schema.get("additionalProperties"), dict):
                found += complaints(each, schema["additionalProperties"], root, "%s.%s" % (at, key))
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            found.append("%s has %d items" % (at, len(value)))
        for number, each in enumerate(value):
            found += complaints(each, schema.get("items", {}), root, "%s[%d]" % (at, number))
    return found
