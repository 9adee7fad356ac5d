// Reaches a running JVM for `hprof attach`, `profile` and `ctl`: its identity, a private folder to exchange
// data with its agent, and the VM's attach protocol. Works into other namespaces (containers), as root or as
// the JVM's user.
//
// The target's file system is accessed through its root directory, which is opened before the caller's rights
// are given up; links in it, which a hostile target may change at any time, never lead out of it. Thread:
// any, but the front end has one. Errors are texts in `*error`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::os {

struct Jvm {
  int pid = 0;              // as seen from here
  int pid_there = 0;        // in its own namespace
  uint32_t user = 0;        // effective, as seen from here
  uint32_t group = 0;       // the same
  uint32_t user_there = 0;  // as it sees itself
  std::string agent;        // path of the agent's library, as it sees it; empty: none is loaded
  int root = -1;            // descriptor of its root directory, and
  int tmp = -1;             // of its /tmp; both stay open until this program ends
  std::string command;      // the last word of its command line that names a class or a jar; may be empty
};
// "process 4711 (app.jar)"
std::string name_of(const Jvm& jvm);
// Finds the identity of process `pid`. False with *error: there is no such process, it belongs to another
// user, or (not on Linux) the system does not tell.
bool find_jvm(int pid, Jvm* jvm, std::string* error);

// Takes on the user, the group and the supplementary groups of the JVM, because the VM checks them and files
// are to be reached with its rights only. False with *error.
bool become(const Jvm& jvm, std::string* error);
// Restores the rights that the program began with, to make files of its own.
void become_caller();
// Bytes of its memory in RAM and swap; 0: it has ended, or not known.
uint64_t memory_of(int pid);
// Name of a user of this host, or the number.
std::string user_name(uint32_t user);

// Identifies a file or directory under any name. Before become(), after which it may not be visible.
struct FileId {
  uint64_t device = 0;
  uint64_t number = 0;  // 0: there is none
};
FileId file_id(const std::string& path);
// True: the JVM has the same file at that path, and its user may read it (or write to it). After become().
bool is_same_there(const Jvm& jvm, const std::string& path, const FileId& id, bool to_write = false);
// The permissions of a regular file as the JVM has it, "0600"; "": none. After become().
std::string mode_there(const Jvm& jvm, const std::string& path);

// A folder in the JVM's /tmp that only its user can enter; it is removed with its contents when the object is
// destroyed. Folders left by killed programs are removed at the next use.
class MeetingPlace {
 public:
  // False: it has sockets only.
  static const bool kHasFiles;

  MeetingPlace() = default;
  ~MeetingPlace();
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;

  // Call it after become(). False with *error.
  bool open(const Jvm& jvm, std::string* error);
  // Makes a listening socket of that name in it; -1 with *error.
  int listen(const std::string& name, std::string* error);
  // Connects to a listening socket that the JVM has made in it; -1 with *error.
  int connect(const std::string& name, double seconds, std::string* error);
  void remove(const std::string& name);
  // Opens a file that the JVM has made in it, for reading; -1 with *error.
  int open_file(const std::string& name, std::string* error);
  // Path of a name in it, as the JVM sees it.
  std::string path_there(const std::string& name) const { return "/tmp/" + folder_ + "/" + name; }

 private:
  std::string here(const std::string& name) const;

  Jvm jvm_;
  std::string folder_;
  int lock_ = -1;  // the folder itself
};

// Takes the next connection of a listener in a meeting place; only the JVM itself may have made it. -1 with
// *error, also when none comes.
int accept_jvm(const Jvm& jvm, int listener, double seconds, std::string* error);

// Copies of files that the JVM does not see, in a folder of its /tmp named by their content, so that the VM
// takes a library loaded twice for the same. The object removes them at its end, unless another program uses
// them.
struct FileCopy {
  std::string name;  // may have folders in it
  std::string content;
};
class StagedFiles {
 public:
  StagedFiles() = default;
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  // identity: letters and digits that stand for the content. Call it after become(). False with *error.
  bool open(const Jvm& jvm, const std::string& identity, const std::vector<FileCopy>& files,
            std::string* error);
  // Path of the folder, as the JVM sees it.
  std::string folder_there() const { return "/tmp/" + folder_; }

 private:
  Jvm jvm_;
  std::string folder_;
  int lock_ = -1;  // the folder itself
};

// An operation of HotSpot's attach mechanism (attachListener.cpp): "load" with an agent's path as the JVM
// sees it, "true" and options; "threaddump" with the options of jstack; "jcmd" with a command line.
struct VmOperation {
  const char* name;
  std::string arguments[3];
};
// Asks the VM for an operation: returns the connection on which it will answer. Linux: checks the owner and
// mode of the VM's attach socket and the process behind it, after making the VM open it if need be; waits for
// a VM that is still starting. -1 with *error, after `seconds` at most.
int ask_vm(const Jvm& jvm, double seconds, const VmOperation& operation, std::string* error);
constexpr char kTooLong[] = "path and options may have 1023 bytes each: the VM reads no more";
// Takes the VM's whole answer apart. True: the agent has accepted the options.
bool understand_vm(const std::string& answer, std::string* text);
// True: the text says that the VM is still starting and will load agents a little later (21 and newer).
bool comes_too_early(const std::string& text);
// Sleeps briefly between two tries.
void pause_a_little();

// Connects to the default control socket of the agent in that process: /tmp/hprof-<user>-<pid>.sock, with the
// process's own user and pid. Any user can make a socket of that name, so the listener must be that process
// (Linux, Windows), or belong to this user (elsewhere). -1 with an empty *error: nobody listens there, and
// *jvm says whether the process has an agent.
int connect_control(int pid, double seconds, Jvm* jvm, std::string* error);

}  // namespace hprof::os
