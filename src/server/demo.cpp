#include "server/demo.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "lab/sample_layouts.h"
#include "runtime/private_files.h"

namespace sluice::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* origin_name = "scourt";
constexpr const char* origin_url = "http://127.0.0.1:9000/";

fs::path static_folder(const Settings& settings) {
  return fs::path(settings.storage.data) / "demo" / "static";
}

documents::OriginConfig demo_origin(const Settings& settings) {
  documents::OriginConfig origin;
  origin.name = origin_name;
  origin.base_url = origin_url;
  origin.static_dir = static_folder(settings).string();
  origin.require = {
      .content_type_not = {"text/html"}, .well_formed_xml = true, .xml_namespace = std::string(lab::layout_namespace)};
  return origin;
}

// All of them or none: the folder gets its name when it is complete.
void write_layouts(const fs::path& folder) {
  const fs::path draft = folder.string() + ".new";
  fs::remove_all(draft);
  for (const lab::SampleLayout& layout : lab::sample_layouts()) {
    const fs::path file = draft / layout.path;
    fs::create_directories(file.parent_path());
    std::ofstream stream(file, std::ios::binary);
    stream << lab::make_layout(layout.path);
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + file.string() + "; check the data folder");
  }
  fs::rename(draft, folder);
}

}  // namespace

void add_demo_origin(Settings& settings) {
  if (!settings.documents.origin.empty()) return;
  try {
    make_private_folder(settings.storage.data);
    if (!fs::exists(static_folder(settings))) write_layouts(static_folder(settings));
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("cannot write the demo to the data folder: {}", error.code().message()));
  }
  settings.documents.origin.push_back(demo_origin(settings));
}

void find_demo_origin(Settings& settings) {
  if (settings.documents.origin.empty() && fs::exists(static_folder(settings))) {
    settings.documents.origin.push_back(demo_origin(settings));
  }
}

Task<std::optional<std::string>> make_demo_key(accounts::ApiKeys& keys) {
  const std::vector<accounts::ListedApiKey> known = co_await keys.list();
  if (!known.empty()) co_return std::nullopt;
  accounts::NewApiKey made = co_await keys.create("demo", accounts::Role::service);
  co_return std::move(made.secret);
}

std::string demo_hint(const Settings& settings, const std::string& url, const std::optional<std::string>& key) {
  const auto& origins = settings.documents.origin;
  const bool has_demo = std::ranges::find(origins, origin_name, &documents::OriginConfig::name) != origins.end();
  std::string hint;
  if (has_demo) {
    hint +=
        fmt::format("Try:  curl -i {}/api/v1/documents/{}/{}\n", url, origin_name, lab::sample_layouts().back().path);
  }
  if (key) hint += fmt::format("SERVICE key, shown only once:  {}\n", *key);
  if (has_demo && key) {
    hint += fmt::format(
        "To download a document, run `sluice-lab origin --listen 127.0.0.1:9000` and then:\n      curl "
        "{}/api/v1/documents/{} -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' -d "
        "'{{\"path\": \"extra/1.xml\"}}'\n",
        url, origin_name, *key);
  }
  return hint;
}

}  // namespace sluice::server
