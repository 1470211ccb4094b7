#include "base/json.h"

#include <gtest/gtest.h>

#include "base/json_writer.h"

namespace sluice::json {
namespace {

enum class Color { red, dark_blue };
constexpr auto enum_names(Color) {
  return std::to_array<EnumName<Color>>({{Color::red, "RED"}, {Color::dark_blue, "DARK_BLUE"}});
}

struct NewJob {
  std::string kind;
  Raw payload;
  std::optional<std::string> unique_key;
  int64_t priority = 7;

  static void describe(Object<NewJob>& object) {
    object.required("kind", &NewJob::kind).length(1, 5).about("What to do.");
    object.required("payload", &NewJob::payload);
    object.optional("uniqueKey", &NewJob::unique_key).length(1, 3);
    object.optional("priority", &NewJob::priority).range(-100, 100);
  }
};

struct Batch {
  std::vector<NewJob> jobs;
  std::map<std::string, double> weights;
  std::optional<Color> color;
  std::optional<Time> at;
  std::optional<Uuid> id;
  std::optional<Money> price;
  bool urgent = false;

  static void describe(Object<Batch>& object) {
    object.required("jobs", &Batch::jobs).items(1, 3);
    object.optional("weights", &Batch::weights).items(0, 2);
    object.optional("color", &Batch::color);
    object.optional("at", &Batch::at);
    object.optional("id", &Batch::id);
    object.optional("price", &Batch::price);
    object.optional("urgent", &Batch::urgent);
  }
};

using ErrorKind = DecodeError::Kind;

template <class T>
DecodeError refused(std::string_view text) {
  const auto result = decode<T>(text);
  if (!result) return result.error();
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(JsonDecode, fills_a_struct) {
  const auto batch = decode<Batch>(R"( {"jobs": [{"kind": "mail", "payload": {"to": [1, 2.5, "\u00e9"]}}],
      "weights": {"a": 1, "b": 2.5}, "color": "DARK_BLUE", "at": "2026-05-01T20:00:00+09:00",
      "id": "018f4e1c-6d2a-7c3e-9f10-0242ac120002", "price": {"amount": 1000, "currency": "KRW"}, "urgent": true} )");
  ASSERT_TRUE(batch) << batch.error().text();
  EXPECT_EQ(batch->jobs.at(0).kind, "mail");
  EXPECT_EQ(batch->jobs.at(0).payload.text, R"({"to":[1,2.5,"é"]})");
  EXPECT_EQ(batch->jobs.at(0).unique_key, std::nullopt);
  EXPECT_EQ(batch->jobs.at(0).priority, 7);
  EXPECT_EQ(batch->weights, (std::map<std::string, double>{{"a", 1}, {"b", 2.5}}));
  EXPECT_EQ(batch->color, Color::dark_blue);
  EXPECT_EQ(batch->at, parse_time("2026-05-01T11:00:00Z"));
  EXPECT_EQ(batch->price, (Money{1000, {}}));
  EXPECT_TRUE(batch->urgent);
}

TEST(JsonDecode, names_the_field_that_is_wrong) {
  const auto error = refused<Batch>(R"({"jobs": [{"kind": "a", "payload": 1}, {"kind": 5, "payload": 1}]})");
  EXPECT_EQ(error.kind, ErrorKind::wrong_type);
  EXPECT_EQ(error.path, "jobs[1].kind");
  EXPECT_EQ(error.text(), "jobs[1].kind must be a string");
}

TEST(JsonDecode, tells_missing_unknown_and_duplicate_fields_apart) {
  const auto missing = refused<NewJob>(R"({"kind": "a"})");
  EXPECT_EQ(missing.kind, ErrorKind::missing);
  EXPECT_EQ(missing.path, "payload");
  const auto unknown = refused<NewJob>(R"({"kind": "a", "payload": 1, "prioritty": 1})");
  EXPECT_EQ(unknown.kind, ErrorKind::unknown);
  EXPECT_EQ(unknown.text(), "prioritty is not a known field; did you mean priority?");
  const auto twice = refused<NewJob>(R"({"kind": "a", "kind": "b", "payload": 1})");
  EXPECT_EQ(twice.kind, ErrorKind::malformed);
  EXPECT_EQ(twice.path, "kind");
}

TEST(JsonDecode, refuses_duplicate_keys_in_maps_and_raw_values_too) {
  EXPECT_EQ(refused<NewJob>(R"({"kind": "a", "payload": {"x": [{"y": 1, "y": 2}]}})").path, "payload.x[0]");
  EXPECT_EQ((refused<std::map<std::string, int64_t>>(R"({"x": 1, "\u0078": 2})")).path, "x");
}

TEST(JsonDecode, a_value_of_the_right_form_that_cannot_be_is_invalid) {
  for (const std::string_view text : {
           R"({"kind": "", "payload": 1})",
           R"({"kind": "toolong", "payload": 1})",
           R"({"kind": "a", "payload": 1, "uniqueKey": ""})",
           R"({"kind": "a", "payload": 1, "priority": 101})",
           R"({"kind": "a", "payload": 1, "priority": 9223372036854775808})",
       }) {
    EXPECT_EQ(refused<NewJob>(text).kind, ErrorKind::invalid) << text;
  }
  EXPECT_EQ(refused<Batch>(R"({"jobs": []})").text(), "jobs must have at least 1 items");
  EXPECT_EQ(refused<Batch>(R"({"jobs": [{"kind": "a", "payload": 1}], "color": "blue"})").text(),
            "color must be one of RED, DARK_BLUE");
  EXPECT_EQ((refused<Batch>(R"({"jobs": [{"kind": "a", "payload": 1}], "weights": {"a": 1, "b": 1, "c": 1}})").path),
            "weights");
}

TEST(JsonDecode, counts_characters_not_bytes) {
  EXPECT_TRUE(decode<NewJob>(R"({"kind": "대기열대기", "payload": null})"));
  EXPECT_FALSE(decode<NewJob>(R"({"kind": "대기열대기열", "payload": null})"));
}

struct Parcel {
  Raw content;

  static void describe(Object<Parcel>& object) { object.required("content", &Parcel::content).length(0, 9); }
};

TEST(JsonDecode, counts_bytes_of_a_raw_value_as_it_is_kept) {
  EXPECT_EQ(decode<Parcel>(R"({"content": { "a" : [1] } })")->content.text, R"({"a":[1]})");
  const DecodeError error = refused<Parcel>(R"({"content":{"a":[12]}})");
  EXPECT_EQ(error.kind, ErrorKind::invalid);
  EXPECT_EQ(error.path, "content");
}

TEST(JsonDecode, a_number_without_a_fraction_is_a_whole_one) {
  EXPECT_EQ(decode<int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(decode<int64_t>("-1.0"), -1);
  EXPECT_EQ(decode<int64_t>("1e3"), 1000);
  EXPECT_EQ(refused<int64_t>("1e300").kind, ErrorKind::invalid);
  for (const std::string_view text : {"1.5", "-0.1", "\"1\"", "null", "true", "[1]"}) {
    EXPECT_EQ(refused<int64_t>(text).kind, ErrorKind::wrong_type) << text;
  }
}

TEST(JsonDecode, a_whole_number_beyond_64_bits_is_kept_as_a_double) {
  EXPECT_EQ(
      decode<Raw>(
          R"({"100000000000000000000 \\":[100000000000000000000,-9223372036854775809,-5,1e2],"b":18446744073709551615})")
          ->text,
      R"({"100000000000000000000 \\":[1e+20,-9223372036854775808.0,-5,100.0],"b":18446744073709551615})");
  EXPECT_EQ(refused<Raw>(std::string(400, '9')).kind, ErrorKind::malformed);
  EXPECT_EQ(refused<Raw>("-99999999999999999999x").kind, ErrorKind::malformed);
}

TEST(JsonDecode, null_is_no_value_only_for_optional_ones) {
  EXPECT_EQ(decode<NewJob>(R"({"kind": "a", "payload": 1, "uniqueKey": null})")->unique_key, std::nullopt);
  EXPECT_EQ(refused<NewJob>(R"({"kind": "a", "payload": 1, "priority": null})").kind, ErrorKind::wrong_type);
}

TEST(JsonDecode, refuses_what_is_not_json) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv,
                                      " "sv,
                                      "{"sv,
                                      "[1"sv,
                                      "[1,]"sv,
                                      "[[1,2]"sv,
                                      "{\"a\":1"sv,
                                      "{\"a\":1}}"sv,
                                      "{\"a\":1} x"sv,
                                      "\"a"sv,
                                      "nul"sv,
                                      "nullx"sv,
                                      "01"sv,
                                      "+1"sv,
                                      "1."sv,
                                      ".5"sv,
                                      "1e"sv,
                                      "1e999"sv,
                                      "-1e999"sv,
                                      "NaN"sv,
                                      "Infinity"sv,
                                      "'a'"sv,
                                      "{a:1}"sv,
                                      "// x\n1"sv,
                                      "\xef\xbb\xbf"
                                      "1"sv,
                                      "\"\xff\""sv,
                                      "\"\xc0\xaf\""sv,
                                      "\"\xed\xa0\x80\""sv,
                                      "\"\n\""sv,
                                      "\"\\x\""sv,
                                      "\"\\ud800\""sv,
                                      "\"\\udc00\""sv,
                                      "\"\\ud800\\u0041\""sv,
                                      "\"\\u12\""sv,
                                      "\"\\u0000\""sv,
                                      "{\"\\udc00\":1}"sv,
                                      "1\0"sv,
                                      "\0"sv,
                                      "[1\0]"sv,
                                      "\"a\0b\""sv}) {
    EXPECT_EQ(refused<Raw>(text).kind, ErrorKind::malformed) << text;
  }
}

TEST(JsonDecode, refuses_every_truncation) {
  const std::string_view text = R"({"kind": "a", "payload": {"x": [1, true, null, "\u00e9"]}, "priority": 5})";
  ASSERT_TRUE(decode<NewJob>(text));
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(refused<NewJob>(text.substr(0, length)).kind, ErrorKind::malformed) << length;
  }
}

TEST(JsonDecode, limits_depth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(decode<Raw>(nested(Document::max_depth - 1)));
  EXPECT_EQ(refused<Raw>(nested(Document::max_depth + 1)).kind, ErrorKind::malformed);
  EXPECT_EQ(refused<Raw>(nested(100'000)).kind, ErrorKind::malformed);
  // Also when the parser's memory has grown in between.
  EXPECT_TRUE(decode<Raw>("\"" + std::string(100'000, 'x') + "\""));
  EXPECT_FALSE(decode<Raw>(nested(Document::max_depth + 1)));
}

TEST(JsonDecode, may_ignore_what_others_added_to_their_documents) {
  const auto job = decode<NewJob>(R"({"kind": "a", "new": {"x": 1}, "payload": 1})", Unknown::ignored);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, "a");
}

TEST(JsonDocument, nothing_is_no_document) {
  EXPECT_FALSE(Document::parse(""));
  EXPECT_FALSE(Document::parse({}));
}

TEST(JsonDecode, documents_do_not_disturb_each_other) {
  const auto first = Document::parse("\"first\"");
  const auto second = Document::parse("\"second\"");
  EXPECT_EQ(first->root().string(), "first");
  EXPECT_EQ(second->root().string(), "second");
}

TEST(JsonEncode, writes_what_decode_reads) {
  Batch batch;
  batch.jobs.push_back({.kind = "a\"b", .payload = {R"({"x":1})"}, .unique_key = "u"});
  batch.at = parse_time("2026-05-01T11:00:00.5Z");
  const std::string text = encode(batch);
  EXPECT_EQ(text,
            R"({"jobs":[{"kind":"a\"b","payload":{"x":1},"uniqueKey":"u","priority":7}],"weights":{},"color":null,)"
            R"("at":"2026-05-01T11:00:00.500Z","id":null,"price":null,"urgent":false})");
  EXPECT_EQ(encode(decode<Batch>(text).value()), text);
}

TEST(JsonSchema, says_what_decode_accepts) {
  EXPECT_EQ(schema<NewJob>(),
            R"({"type":"object","properties":{"kind":{"type":"string","description":"What to do.","minLength":1,)"
            R"("maxLength":5,"pattern":"^[^\\u0000]*$"},"payload":{"$ref":"#/components/schemas/Json"},)"
            R"("uniqueKey":{"type":["string","null"],"minLength":1,"maxLength":3,"pattern":"^[^\\u0000]*$"},)"
            R"("priority":{"type":"integer","default":7,"format":"int64","minimum":-100,"maximum":100}},)"
            R"("required":["kind","payload"],"additionalProperties":false})");
  EXPECT_EQ(schema<std::vector<Color>>(), R"({"type":"array","items":{"type":"string","enum":["RED","DARK_BLUE"]}})");
  EXPECT_TRUE(decode<Raw>(schema<Batch>()));
}

const TextForm even_form{"^(..)*$", [](std::string_view text) { return text.size() % 2 == 0; }, "must be even"};

struct Choice {
  std::optional<std::string> name;
  bool all = false;

  static void describe(Object<Choice>& object) {
    object.optional("name", &Choice::name).form(even_form).example(R"("ab")");
    object.optional("all", &Choice::all);
    object.at_least_one_of({"name", "all"});
  }
};

TEST(JsonDecode, a_form_is_checked_where_the_schema_shows_its_pattern) {
  EXPECT_TRUE(decode<Choice>(R"({"name":"ab"})"));
  EXPECT_EQ(refused<Choice>(R"({"name":"abc"})").text(), "name must be even");
  EXPECT_TRUE(schema<Choice>().contains(
      R"("name":{"type":["string","null"],"examples":["ab"],"pattern":"^(..)*$"},"all":{"type":"boolean","default":false})"))
      << schema<Choice>();
}

TEST(JsonDecode, one_of_several_fields_may_be_needed) {
  EXPECT_TRUE(decode<Choice>(R"({"all":true,"name":null})"));
  for (const std::string_view nothing : {R"({})", R"({"all":false})", R"({"name":null,"all":false})"}) {
    EXPECT_EQ(refused<Choice>(nothing).text(), "the document must have at least one of name, all") << nothing;
  }
  EXPECT_TRUE(schema<Choice>().contains(
      R"("anyOf":[{"required":["name"],"properties":{"name":{"not":{"enum":[null,false]}}}},)"))
      << schema<Choice>();
}

struct Shelf {
  std::string name{};
  std::string_view room{};
  std::optional<Time> moved{};
  std::optional<std::string> next{};
  std::map<Color, int64_t> counts{};
  std::vector<std::pair<std::string, Color>> doors{};
  size_t width = 3;
  const Parcel* parcel = nullptr;
  std::string label = "null";  // JSON

  static void describe(Object<Shelf>& object) {
    object.required("url", [](const Shelf& shelf) { return "/" + shelf.name; }).format("uri-reference");
    object.required("room", &Shelf::room);
    object.required("moved", &Shelf::moved);
    object.optional("next", &Shelf::next).form(even_form).omit_null();
    object.required("counts", &Shelf::counts).at_least(1);
    object.required("doors", &Shelf::doors);
    object.required("width", &Shelf::width);
    object.required("parcel", &Shelf::parcel);
    object.required("label", [](const Shelf& shelf) { return RawView{shelf.label}; }).about("Any.");
  }
};

// Has the fields of its base, and one more.
struct WideShelf : Shelf {
  int64_t height = 2;

  static void describe(Object<WideShelf>& object) {
    object.required("room", &Shelf::room);
    object.required("height", &WideShelf::height);
  }
};

TEST(JsonEncode, writes_views_and_leaves_out_what_a_field_omits) {
  Shelf shelf{.name = "a", .room = "hall", .label = R"({"x":[1]})"};
  EXPECT_EQ(encode(shelf), R"({"url":"/a","room":"hall","moved":null,"counts":{},"doors":{},"width":3,"parcel":null,)"
                           R"("label":{"x":[1]}})");
  const Parcel parcel{Raw{"7"}};
  shelf.parcel = &parcel;
  shelf.next = "bb";
  shelf.counts = {{Color::dark_blue, 2}, {Color::red, 1}};
  shelf.doors = {{"south", Color::red}, {"east", Color::dark_blue}};
  EXPECT_EQ(encode(shelf), R"({"url":"/a","room":"hall","moved":null,"next":"bb","counts":{"RED":1,"DARK_BLUE":2},)"
                           R"("doors":{"south":"RED","east":"DARK_BLUE"},"width":3,"parcel":{"content":7},)"
                           R"("label":{"x":[1]}})");
  EXPECT_EQ(encode(WideShelf{{.room = "hall"}}), R"({"room":"hall","height":2})");
}

TEST(JsonSchema, says_what_encode_writes) {
  EXPECT_EQ(output_schema<Shelf>(),
            R"({"type":"object","properties":{"url":{"type":"string","format":"uri-reference"},)"
            R"("room":{"type":"string"},"moved":{"type":["string","null"],"format":"date-time"},)"
            R"("next":{"type":"string","pattern":"^(..)*$"},"counts":{"type":"object","additionalProperties":)"
            R"({"type":"integer","format":"int64","minimum":1},"propertyNames":{"type":"string",)"
            R"("enum":["RED","DARK_BLUE"]}},"doors":{"type":"object","additionalProperties":{"type":"string",)"
            R"("enum":["RED","DARK_BLUE"]}},"width":{"type":"integer","format":"int64","minimum":0},)"
            R"("parcel":{"type":["object","null"],"properties":{"content":{"$ref":"#/components/schemas/Json"}},)"
            R"("required":["content"]},"label":{"$ref":"#/components/schemas/Json","description":"Any."}},)"
            R"("required":["url","room","moved","counts","doors","width","parcel","label"]})");
  EXPECT_TRUE(output_schema<NewJob>().contains(R"("required":["kind","payload","uniqueKey","priority"])"))
      << "an optional field is written, too";
}

TEST(JsonSchemaDeathTest, a_field_that_is_only_written_cannot_be_in_input) {
  EXPECT_DEATH(schema<Shelf>(), "field url is only written");
}

TEST(JsonWriter, places_commas_and_escapes) {
  std::string out = "before ";
  Writer writer(out);
  writer.begin_object().field("a", 1).field("b\n", "x\\\x01{").key("c").begin_array();
  writer.null().boolean(true).number(0.1).begin_object().end_object().end_array().end_object();
  EXPECT_EQ(out, R"(before {"a":1,"b\n":"x\\\u0001{","c":[null,true,0.1,{}]})");
}

TEST(JsonString, bytes_that_are_not_utf8_are_replaced_one_by_one) {
  const auto quoted = [](std::string_view text) {
    std::string out = "before ";
    append_string(out, text);
    return out;
  };
  EXPECT_EQ(quoted(""), R"(before "")");
  EXPECT_EQ(quoted("대기열"), R"(before "대기열")");
  EXPECT_EQ(quoted("12345678\xff대\xe3\x81"), "before \"12345678\xef\xbf\xbd대\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(quoted("\xed\xa0\x80\"\n"), "before \"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\\"\\n\"");
}

TEST(JsonWriter, always_writes_valid_json) {
  EXPECT_EQ(encode(std::string("\xff")), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(encode(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(encode(uint64_t{18446744073709551615U}), "18446744073709551615");
}

TEST(JsonWriter, a_number_reads_back_as_itself) {
  for (const double number : {0.0, -0.0, 0.1, 10.0, 1e20, 18446744073709551616.0, 1.7976931348623157e308, 5e-324}) {
    const std::string text = encode(number);
    EXPECT_EQ(decode<double>(text), number) << text;
    EXPECT_EQ(decode<Raw>(text)->text, text);
  }
}

TEST(JsonWriter, escapes_at_every_place_of_a_string) {
  for (size_t length = 1; length < 20; ++length) {
    for (size_t at = 0; at < length; ++at) {
      std::string text(length, 'x');
      for (const char c : {'"', '\\', '\x1f', '\n'}) {
        text[at] = c;
        EXPECT_EQ(decode<std::string>(encode(text)), text);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::json
