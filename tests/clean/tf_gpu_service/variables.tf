variable "project" {
  type    = string
  default = "llm"
}

variable "region" {
  type    = string
  default = "us-west-2"
}

variable "cluster_name" {
  type = string
}

variable "vpc_id" {
  type = string
}

variable "vpc_cidr" {
  type = string
}

variable "private_subnet_ids" {
  type = list(string)
}

variable "alb_security_group_id" {
  type = string
}

variable "instance_profile_arn" {
  type = string
}

variable "task_role_arn" {
  type = string
}

variable "execution_role_arn" {
  type = string
}

variable "server_image" {
  type        = string
  description = "repository@sha256:digest"
}

variable "api_key_secret_arn" {
  type = string
}
